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
  readonly zone: string;
  /** Dates such as `2026-12-25` that are no business days, beside Saturdays and Sundays. */
  readonly holidays: ReadonlySet<string>;
}

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

/** RFC 3339 has years of four digits: a limit that would end later ends with the last of them. */
const YEAR_MAX = 9999;
export const FIRST_INSTANT = Date.parse("0000-01-01T00:00:00Z");
const LAST_INSTANT = Date.parse("9999-12-31T23:59:59Z");

/** The last second of the limit, in RFC 3339 and UTC. `start` has the same form, with any precision; a leap second counts as the second before it. */
export const limitEnd = (start: string, limit: Limit, calendar: Calendar): string =>
  timeText(dayAfter(lastDay(start, limit, calendar), calendar) - 1000);

export const limitDate = (start: string, limit: Limit, calendar: Calendar): string =>
  dateText(lastDay(start, limit, calendar));

/** The date in the zone of a time in RFC 3339, such as `2026-11-20`. */
export const dateIn = (zone: string, time: string): string => dateText(dayIn(zone, instantOf(time)));

/** The last date in the zone that is over at a time in RFC 3339. A day counts as over in its last second, because that is how ends are written. */
export const lastDateOver = (zone: string, time: string): string =>
  dateText(dayIn(zone, instantOf(time) + 1000).subtract({ days: 1 }));

/** The first second of the day on which the limit ends, in RFC 3339 and UTC. */
export const lastDayBegins = (start: string, limit: Limit, calendar: Calendar): string =>
  timeText(dayAfter(lastDay(start, limit, calendar).subtract({ days: 1 }), calendar));

export const instantOf = (time: string): number =>
  Date.parse(time.replace(/:60(?=[.Z+-]|$)/, ":59").replace(/(\.\d{3})\d+/, "$1"));

export const isZone = (zone: string): boolean => {
  try {
    dayIn(zone, 0);
    return true;
  } catch {
    return false;
  }
};

type Day = Temporal.PlainDate;

const dayIn = (zone: string, instant: number): Day =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).toPlainDate();

const dayAfter = (day: Day, { zone }: Calendar): number =>
  day.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds;

const lastDay = (start: string, { count, unit }: Limit, { zone, holidays }: Calendar): Day => {
  let day = dayIn(zone, instantOf(start));
  // Of a month without such a day the last one (1182/71 art. 3(2)(c)).
  if (unit !== "business_days") return day.add({ [unit]: count });
  // A limit beyond the end of the calendar ends with it. A holiday on the calendar's last day counts as every day after it.
  for (let left = count; left > 0 && day.year <= YEAR_MAX; ) {
    day = day.add({ days: 1 });
    if (day.dayOfWeek < SATURDAY && !holidays.has(dateText(day))) left--;
  }
  return day;
};

const SATURDAY = 6;

const dateText = (day: Day): string =>
  timeText(day.toZonedDateTime("UTC").epochMilliseconds).slice(0, "2026-11-20".length);

const timeText = (instant: number): string =>
  new Date(Math.min(Math.max(instant, FIRST_INSTANT), LAST_INSTANT)).toISOString().replace(".000Z", "Z");
