/** Times in the zones of the laws, from published tables and its own arithmetic: nothing from the code under test. */
export const HOUR_MS = 3_600_000;

export const DAY_MS = 24 * HOUR_MS;

/** Clock changes of 2026 and 2027, from the published tables. */
const SUMMER: Readonly<
  Record<string, { offsets: readonly [winter: number, summer: number]; from: string[]; to: string[] }>
> = {
  brussels: {
    offsets: [1, 2],
    from: ["2026-03-29T01:00:00Z", "2027-03-28T01:00:00Z"],
    to: ["2026-10-25T01:00:00Z", "2027-10-31T01:00:00Z"],
  },
  denver: {
    offsets: [-7, -6],
    from: ["2026-03-08T09:00:00Z", "2027-03-14T09:00:00Z"],
    to: ["2026-11-01T08:00:00Z", "2027-11-07T08:00:00Z"],
  },
  newYork: {
    offsets: [-5, -4],
    from: ["2026-03-08T07:00:00Z", "2027-03-14T07:00:00Z"],
    to: ["2026-11-01T06:00:00Z", "2027-11-07T06:00:00Z"],
  },
  seoul: { offsets: [9, 9], from: [], to: [] },
  utc: { offsets: [0, 0], from: [], to: [] },
};

const offsetHours = (zone: string, instant: number): number => {
  const { offsets, from, to } = SUMMER[zone] ?? { offsets: [0, 0] as const, from: [], to: [] };
  const isSummer = from.some(
    (start, year) => instant >= Date.parse(start) && instant < Date.parse(to[year] ?? ""),
  );
  return isSummer ? offsets[1] : offsets[0];
};

/** The end of the day this many days or business days after the day of `start`, all in the zone. */
export const dueAfter = (
  start: number,
  count: number,
  zone: string,
  unit: "days" | "business" = "days",
): string => {
  const local = start + offsetHours(zone, start) * HOUR_MS;
  let day = Math.floor(local / DAY_MS);
  for (let left = count; left > 0; ) {
    day++;
    // 1970-01-01 was a Thursday.
    const weekday = (day + 4) % 7;
    if (unit === "days" || (weekday !== 0 && weekday !== 6)) left--;
  }
  const end = (day + 1) * DAY_MS - 1000;
  const guess = end - offsetHours(zone, end) * HOUR_MS;
  return text(end - offsetHours(zone, guess) * HOUR_MS);
};

export const dateIn = (zone: string, instant: number): string =>
  new Date(instant + offsetHours(zone, instant) * HOUR_MS).toISOString().slice(0, 10);

export const text = (instant: number): string => new Date(instant).toISOString().replace(/\.?0*Z$/, "Z");

export const isLate = (instant: number, due: string): boolean =>
  Math.floor(instant / 1000) > Date.parse(due) / 1000;
