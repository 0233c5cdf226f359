/** When an obligation falls due: the end of a limit of days, business days or months, and what extends it. Pure. */
import { timeKey } from "../../event/formats.ts";
import type { Fact } from "../cases/fact.ts";
import { extensionDays } from "../cases/objection.ts";
import type { Deadline, Limit } from "./deadline-table.ts";

/** The whole last second counts, and a leap second counts as the one before it. */
export const isInTime = (at: string, dueAt: string): boolean =>
  at.slice(0, dueAt.length).replace(/:60$/, ":59") <= dueAt;

/** Whether the log received it more than a grace after a time. */
export const isRecordedAfter = (
  { recorded }: Pick<Fact, "recorded">,
  time: string,
  graceMs: number,
): boolean => recorded > time && instantOf(`${recorded}Z`) - instantOf(`${time}Z`) > graceMs;

export const dueOf = (parts: {
  readonly rule: Deadline;
  readonly startedAt: string;
  readonly told: readonly Fact[];
  /** When it was met. What is told after that extends nothing. */
  readonly stoppedAt: string | undefined;
  readonly holidays: Calendar["holidays"];
  /** If given, an extension that the log received more than this after the due time so far does not count. */
  readonly knownWithinMs?: number;
}): { readonly dueAt: string; readonly extendedBy: readonly Fact[] } => {
  const { rule, startedAt, told, stoppedAt, holidays, knownWithinMs } = parts;
  const { extension, limit, zone } = rule;
  const endOf = (start: string, of: Limit): string => timeKey(limitEnd(`${start}Z`, of, { zone, holidays }));
  let dueAt = endOf(startedAt, limit);
  const extendedBy: Fact[] = [];
  for (const fact of told) {
    if (extension === undefined || extendedBy.length >= extension.times) break;
    if (stoppedAt !== undefined && fact.at > stoppedAt) break;
    const asked = extensionDays(fact);
    if (!(asked > 0) || fact.says.reason === undefined) continue;
    // An extension announced after the limit extends nothing.
    if (!isInTime(fact.at, dueAt)) continue;
    if (knownWithinMs !== undefined && isRecordedAfter(fact, dueAt, knownWithinMs)) continue;
    // Months are counted from the start, as the limit itself is. An extension in another unit than the limit begins where the limit ends.
    const atMost =
      extension.limit.unit === "months" && limit.unit === "months"
        ? endOf(startedAt, { count: limit.count + extension.limit.count, unit: "months" })
        : endOf(dueAt, extension.limit);
    const asTold = endOf(dueAt, { count: Math.min(asked, EXTENSION_DAYS_MAX), unit: "days" });
    dueAt = asTold;
    if (atMost < dueAt) dueAt = atMost;
    extendedBy.push(fact);
  }
  return { dueAt, extendedBy };
};

const EXTENSION_DAYS_MAX = 366;

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

/**
 * The first day is not counted, and a limit ends with the last day in the authority's time zone (Korean Civil Act 157 and 161; Regulation (EEC, Euratom)
 * 1182/71 art. 3). An end on a weekend or a holiday is not moved: moving it would make it later, so not moving it is the careful reading.
 *
 * The last second of the limit, in RFC 3339 and UTC. `start` has the same form, with any precision; a leap second counts as the second before it.
 */
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
