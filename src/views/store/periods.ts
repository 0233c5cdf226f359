/**
 * The periods that contain a time, from its year to its minute. A range of times is a few periods, so that an index that can only find equal values
 * finds it. Times are text that sorts by time (event/formats.ts). A range may begin or end within a period, so callers still check the times
 * themselves. No period is longer than a year, because each length costs every event a term. A year without events costs a range that is open at one
 * side 22 µs (measured), so there are fifty of them.
 */

/** `from` is inside the range, `to` is not. */
export interface TimeRange {
  readonly name: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const periodsOf = (time: string): readonly string[] => {
  if (!isInPeriods(time)) return [ELSEWHERE];
  const minute = minuteOf(time).toLowerCase();
  return PERIOD_LENGTHS.map((length) => minute.slice(0, length));
};

const isInPeriods = (time: string): boolean => time >= FIRST && time < END;

const minuteOf = (time: string): string => time.slice(0, MINUTE);

/** The largest periods that together cover the range: at most 165, from the first to the last, and one for all other years. */
export const periodsBetween = ({ from, to }: TimeRange): readonly string[] => {
  const start = Math.max(FIRST_MS, from === undefined ? FIRST_MS : minuteMs(from));
  const end = Math.min(END_MS, to === undefined ? END_MS : minuteMs(to) + (isWholeMinute(to) ? 0 : 1));
  const span = end - start;
  const shortest = span > HOURS_WITHIN_MS ? DAY : span > MINUTES_WITHIN_MS ? HOUR : MINUTE;
  const found = [ELSEWHERE];
  let at = textOf(start).slice(0, shortest);
  while (msOf(at) < end) {
    const length = PERIOD_LENGTHS.find(
      (each) => each === shortest || (isBegin(at, each) && endOf(at, each) <= end),
    );
    const period = at.slice(0, length);
    found.push(period.toLowerCase());
    at = textOf(endOf(at, period.length)).slice(0, shortest);
  }
  return found;
};

const FIRST = "2000-01-01T00:00";
const END = "2050-01-01T00:00";
/** All times outside these years together, because there are hardly any. */
const ELSEWHERE = "elsewhere";

/** The length of the text of a time that names the period. */
const [YEAR, DAY] = [4, 10];
const [MONTH, HOUR, MINUTE] = [7, 13, 16];
const PERIOD_LENGTHS = [YEAR, MONTH, DAY, HOUR, MINUTE];

/** At the ends of a longer range hours serve as well as minutes, and days as well as hours, and fewer of them must be looked up. */
const MINUTES_WITHIN_MS = 48 * 3_600_000;
const HOURS_WITHIN_MS = 60 * 24 * 3_600_000;

const msOf = (text: string): number => Date.parse(`${text}${FIRST.slice(text.length)}Z`);

const textOf = (ms: number): string => new Date(ms).toISOString().slice(0, MINUTE);

const FIRST_MS = msOf(FIRST);
const END_MS = msOf(END);

const minuteMs = (time: string): number => msOf(minuteOf(time));

const isWholeMinute = (time: string): boolean => time.slice(MINUTE) === ":00";

const isBegin = (text: string, length: number): boolean =>
  text.slice(length) === FIRST.slice(length, text.length);

/** The end of the period of this length that contains the time. */
const endOf = (text: string, length: number): number => {
  const at = new Date(msOf(text));
  switch (length) {
    case YEAR:
      return at.setUTCFullYear(at.getUTCFullYear() + 1);
    case MONTH:
      return at.setUTCMonth(at.getUTCMonth() + 1);
    case DAY:
      return at.setUTCDate(at.getUTCDate() + 1);
    default:
      return at.getTime() + (length === HOUR ? 3_600_000 : 60_000);
  }
};
