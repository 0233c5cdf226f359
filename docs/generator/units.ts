/** Numbers as people write them. */
const KIB = 1024;

export const sizeText = (bytes: number): string => {
  if (bytes >= KIB ** 3 && bytes % KIB ** 3 === 0) return `${bytes / KIB ** 3} GiB`;
  if (bytes >= KIB ** 2 && bytes % (KIB ** 2 / 2) === 0) return `${bytes / KIB ** 2} MiB`;
  return bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} bytes`;
};

const SPANS = [
  [24 * 60 * 60 * 1000, "day"],
  [60 * 60 * 1000, "hour"],
  [60 * 1000, "minute"],
  [1000, "second"],
] as const;

export const durationText = (milliseconds: number): string => {
  for (const [length, name] of SPANS)
    if (milliseconds % length === 0 && milliseconds >= length)
      return `${milliseconds / length} ${name}${milliseconds === length ? "" : "s"}`;
  return `${milliseconds} ms`;
};

export const countText = (count: number): string => count.toLocaleString("en");
