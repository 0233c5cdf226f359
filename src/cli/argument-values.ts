/** The values of options and arguments, and the messages for invalid ones. Pure. */

const SECONDS = { s: 1, m: 60, h: 60 * 60, d: 24 * 60 * 60, w: 7 * 24 * 60 * 60 } as const;
const DURATION = /^(\d{1,9})([smhdw])$/;

/** Seconds of `45s`, `10m`, `1h`, `90d` or `2w`; undefined if the text is not a duration. */
export const durationSeconds = (text: string): number | undefined => {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined) return undefined;
  for (const [name, seconds] of Object.entries(SECONDS)) if (name === unit) return Number(amount) * seconds;
  return undefined;
};

export const durationComplaint = (text: string): string | undefined =>
  durationSeconds(text) === undefined ? "Give a time such as 45s, 10m, 1h, 90d or 2w." : undefined;

/** Whole numbers of a range, for the `complaint` of an option. */
export const integerComplaint =
  ({ min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number }) =>
  (text: string): string | undefined => {
    const isValid = /^(?:0|[1-9]\d{0,15})$/.test(text) && Number(text) >= min && Number(text) <= max;
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
    return isValid ? undefined : `Give a whole number, ${range}.`;
  };

export const tagComplaint = (text: string): string | undefined =>
  text.indexOf("=") > 0 ? undefined : "Give a tag as key=value.";

/** For an id that becomes a segment of a path: an empty one, or one that means a folder, would give another path. */
export const idComplaint = (text: string): string | undefined =>
  ["", ".", ".."].includes(text) ? "Give an id; this one is empty, or means a folder." : undefined;

/** No event_id is that word (DESIGN 3), and the path with it is the live stream, which never ends. */
export const eventIdComplaint = (text: string): string | undefined =>
  text === "stream" ? "Give an event_id; for the live stream use `events tail`." : idComplaint(text);
