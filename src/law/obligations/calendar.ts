/**
 * When a limit of days, business days or months ends. The first day is not counted, and the limit ends with the last day in the authority's time zone
 * (Korean Civil Act 157 and 161; Regulation (EEC, Euratom) 1182/71 art. 3). An end on a weekend or a holiday is not moved: moving it would make it
 * later, so not moving it is the careful reading. Pure: no clock.
 */

export interface Limit {
  readonly count: number;
  /** A limit of 0 `days` ends with the day on which it begins. */
  readonly unit: "days" | "business_days" | "months";
}

export interface Calendar {
  /** A name of the IANA time zone database. */
  readonly zone: string;
  /** Dates such as `2026-12-25` that are no business days, beside Saturdays and Sundays. */
  readonly holidays: ReadonlySet<string>;
}

/** A calendar date without a zone. Months are counted from 1. */
interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The last second of the limit, in RFC 3339 and UTC. `start` has the same form, with any precision; a leap second counts as the second before it. */
export const limitEnd = (start: string, limit: Limit, calendar: Calendar): string => {
  const first = dayIn(calendar.zone, instantOf(start));
  return endOfDay(lastDay(first, limit, calendar), calendar.zone);
};

/** The date in the zone on which the limit ends, such as `2026-11-20`. */
export const limitDate = (start: string, limit: Limit, calendar: Calendar): string =>
  dateText(lastDay(dayIn(calendar.zone, instantOf(start)), limit, calendar));

/** The date in the zone of a time in RFC 3339, such as `2026-11-20`. */
export const dateIn = (zone: string, time: string): string => dateText(dayIn(zone, instantOf(time)));

/** The last date in the zone that is over at a time in RFC 3339. A day counts as over in its last second, because that is how ends are written. */
export const lastDateOver = (zone: string, time: string): string =>
  dateText(addDays(dayIn(zone, instantOf(time) + 1000), -1));

/** The first second of the day on which the limit ends, in RFC 3339 and UTC. */
export const lastDayBegins = (start: string, limit: Limit, calendar: Calendar): string => {
  const last = lastDay(dayIn(calendar.zone, instantOf(start)), limit, calendar);
  const before = instantOf(endOfDay(addDays(last, -1), calendar.zone));
  return timeText(before + 1000);
};

/** Milliseconds since 1970 of a time in RFC 3339. */
export const instantOf = (time: string): number =>
  Date.parse(time.replace(/:60(?=[.Z+-]|$)/, ":59").replace(/(\.\d{3})\d+/, "$1"));

const lastDay = (first: Day, { count, unit }: Limit, { holidays }: Calendar): Day => {
  switch (unit) {
    case "days":
      return addDays(first, count);
    case "months":
      return addMonths(first, count);
    case "business_days": {
      let day = first;
      // A limit beyond the end of the calendar ends with it. A holiday on the calendar's last day counts as every day after it.
      for (let left = count; left > 0 && day.year <= YEAR_MAX; ) {
        day = addDays(day, 1);
        if (!isFree(day, holidays)) left--;
      }
      return day;
    }
  }
};

const utc = ({ year, month, day }: Day): Date => utcDate(year, month - 1, day);

/** `Date.UTC` reads the years 0 to 99 as years of the 20th century. */
const utcDate = (year: number, monthIndex: number, day: number): Date => {
  const date = new Date(0);
  date.setUTCFullYear(year, monthIndex, day);
  return date;
};

const dateText = (day: Day): string => timeText(utc(day).getTime()).slice(0, 10);

const fromUtc = (date: Date): Day => ({
  year: date.getUTCFullYear(),
  month: date.getUTCMonth() + 1,
  day: date.getUTCDate(),
});

const addDays = ({ year, month, day }: Day, days: number): Day =>
  fromUtc(utcDate(year, month - 1, day + days));

/** The same day of a later month, or that month's last day if it has no such day (1182/71 art. 3(2)(c)). */
const addMonths = ({ year, month, day }: Day, months: number): Day => {
  const target = utcDate(year, month - 1 + months, 1);
  const last = utcDate(target.getUTCFullYear(), target.getUTCMonth() + 1, 0).getUTCDate();
  return { year: target.getUTCFullYear(), month: target.getUTCMonth() + 1, day: Math.min(day, last) };
};

const isFree = (day: Day, holidays: ReadonlySet<string>): boolean => {
  const date = utc(day);
  return date.getUTCDay() === 0 || date.getUTCDay() === 6 || holidays.has(dateText(day));
};

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

const dayIn = (zone: string, instant: number): Day => fromUtc(new Date(instant + offsetMs(zone, instant)));

/** RFC 3339 has years of four digits: a limit that would end later ends with the last of them. */
const YEAR_MAX = 9999;
export const FIRST_INSTANT = Date.parse("0000-01-01T00:00:00Z");
const LAST_INSTANT = Date.parse("9999-12-31T23:59:59Z");

/** The last second of the day. If clocks are set back during its last hour, the later of the two. */
const endOfDay = (day: Day, zone: string): string => {
  const local = utc(day).getTime() + DAY_MS - 1000;
  const before = local - offsetMs(zone, local - DAY_MS / 2);
  const after = local - offsetMs(zone, local + DAY_MS / 2);
  const end = [Math.max(before, after), Math.min(before, after)].find(
    (instant) => instant + offsetMs(zone, instant) === local,
  );
  return timeText(end ?? after);
};

const timeText = (instant: number): string =>
  new Date(Math.min(Math.max(instant, FIRST_INSTANT), LAST_INSTANT)).toISOString().replace(".000Z", "Z");

/** Local time minus UTC. */
const offsetMs = (zone: string, instant: number): number => {
  const hour = Math.floor(Math.max(instant, FIRST_ZONES) / HOUR_MS) * HOUR_MS;
  const known = offsets.get(zone)?.get(hour);
  if (known !== undefined) return known;
  const offset = askOffsetMs(zone, hour);
  const ofZone = offsets.get(zone) ?? new Map<number, number>();
  if (ofZone.size >= OFFSETS_KEPT_MAX) ofZone.clear();
  offsets.set(zone, ofZone.set(hour, offset));
  return offset;
};

/** Before this time every town had its own time, and the platform counts years by eras. */
const FIRST_ZONES = Date.UTC(1900, 0, 1);
/**
 * Asking the platform takes microseconds. Zones change their offset at full hours of UTC, so one answer serves an hour. A few zones did not: within
 * the hour of such a change a day may be off by one, in Tehran until 2022, in St John's and Goose Bay until 2011.
 */
const offsets = new Map<string, Map<number, number>>();
/** Hours that are kept for one zone; a year has 8760. */
const OFFSETS_KEPT_MAX = 10_000;

const askOffsetMs = (zone: string, instant: number): number => {
  const parts = formatOf(zone).formatToParts(instant);
  const part = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((candidate) => candidate.type === type)?.value);
  const local = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return local - instant;
};

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws RangeError if there is no such zone. */
const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone);
  if (known) return known;
  const numeric = "numeric";
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  formats.set(zone, format);
  return format;
};

export const isZone = (zone: string): boolean => {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
};
