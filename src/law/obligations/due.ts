/** When a duty falls due, and how often that was extended. Pure. */

import { timeKey } from "../../event/formats.ts";
import type { Fact } from "../cases/fact.ts";
import { extensionDays } from "../cases/objection.ts";
import { type Calendar, instantOf, type Limit, limitEnd } from "./calendar.ts";
import type { Deadline } from "./deadlines.ts";

/** The whole last second counts, and a leap second counts as the one before it. */
export const isInTime = (at: string, dueAt: string): boolean =>
  at.slice(0, dueAt.length).replace(/:60$/, ":59") <= dueAt;

/** Whether the log received it more than a grace after a time. */
export const isRecordedAfter = (
  { recorded }: Pick<Fact, "recorded">,
  time: string,
  graceMs: number,
): boolean => recorded > time && instantOf(`${recorded}Z`) - instantOf(`${time}Z`) > graceMs;

const endOf = (startedAt: string, limit: Limit, calendar: Calendar): string =>
  timeKey(limitEnd(`${startedAt}Z`, limit, calendar));

export const dueOf = (parts: {
  rule: Deadline;
  startedAt: string;
  /** In order. */
  told: readonly Fact[];
  /** When the duty was met. What is told after that extends nothing. */
  stoppedAt: string | undefined;
  holidays: Calendar["holidays"];
  /** If given, an extension that the log received more than this after the due time so far does not count. */
  knownWithinMs?: number;
}): { readonly dueAt: string; readonly extendedBy: readonly Fact[] } => {
  const { rule, startedAt, told, stoppedAt, holidays, knownWithinMs } = parts;
  const calendar = { zone: rule.zone, holidays };
  let dueAt = endOf(startedAt, rule.limit, calendar);
  const extendedBy: Fact[] = [];
  for (const fact of told) {
    if (stoppedAt !== undefined && fact.at > stoppedAt) break;
    const { extension } = rule;
    const asked = extensionDays(fact);
    if (!extension || extendedBy.length >= extension.times || !(asked > 0) || fact.says.reason === undefined)
      continue;
    // An announcement after the limit has run out extends nothing.
    if (!isInTime(fact.at, dueAt)) continue;
    if (knownWithinMs !== undefined && isRecordedAfter(fact, dueAt, knownWithinMs)) continue;
    const days = { count: Math.min(asked, EXTENSION_DAYS_MAX), unit: "days" } as const;
    const asTold = endOf(dueAt, days, calendar);
    const atMost = extendedAtMost({ startedAt, dueAt, by: extension.limit, limit: rule.limit, calendar });
    dueAt = asTold;
    if (atMost < dueAt) dueAt = atMost;
    extendedBy.push(fact);
  }
  return { dueAt, extendedBy };
};

/** More than any law allows, and few enough to compute. */
const EXTENSION_DAYS_MAX = 366;

/** Months are counted from the start, as the limit itself is. An extension in another unit than the limit begins where the limit ends. */
const extendedAtMost = (parts: {
  readonly startedAt: string;
  readonly dueAt: string;
  readonly by: Limit;
  readonly limit: Limit;
  readonly calendar: Calendar;
}): string => {
  const { startedAt, dueAt, by, limit, calendar } = parts;
  const inMonths = by.unit === "months" && limit.unit === "months";
  return inMonths
    ? endOf(startedAt, { count: limit.count + by.count, unit: "months" }, calendar)
    : endOf(dueAt, by, calendar);
};
