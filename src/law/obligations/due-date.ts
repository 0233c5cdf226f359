/** When an obligation falls due, and whether what stopped its clock came in time. Pure. */
import { timeKey } from "../../event/formats.ts";
import type { Fact } from "../cases/fact.ts";
import { extensionDays } from "../cases/objection.ts";
import { type Calendar, instantOf, type Limit, limitEnd } from "./calendar.ts";
import type { Deadline } from "./deadline-table.ts";
import { type Obligation, obligation, type Rules, type Start } from "./obligation.ts";

interface Running {
  readonly rule: Deadline;
  readonly start: Start;
  readonly startedAt: string;
  readonly startedBy: Fact;
}

export const stoppedBy = (
  stop: Fact | undefined,
  { rule, start, startedAt, startedBy }: Running,
  { holidays, lateRecordGraceMs }: Rules,
): Obligation => {
  const { by, told = [], aware = [] } = start;
  const parts = { rule, told, stoppedAt: stop?.at, holidays };
  const { dueAt, extendedBy } = dueOf({ ...parts, startedAt });
  // Without what the log received only after the obligation had fallen due.
  const knownDueAt = (): string => {
    if (extendedBy.length === 0 && startedBy === by) return dueAt;
    const dueFrom = (at: string): string =>
      dueOf({ ...parts, startedAt: at, knownWithinMs: lateRecordGraceMs }).dueAt;
    let known = dueFrom(by.at);
    for (const said of aware)
      if (said.by === by || !isRecordedAfter(said.by, known, lateRecordGraceMs)) known = dueFrom(said.at);
    return isInTime(known, dueAt) ? known : dueAt;
  };
  const isRecordedLate = (): boolean => {
    const known = knownDueAt();
    if (stop === undefined) return known < dueAt;
    return !isInTime(stop.at, known) || isRecordedAfter(stop, known, lateRecordGraceMs);
  };
  const status = stop === undefined ? "open" : isInTime(stop.at, dueAt) ? "met" : "met_late";
  const startedRecorded = startedBy.recorded;
  return obligation(
    { ...start, stop },
    {
      ...{ startedAt, startedRecorded, dueAt, status, extendedBy },
      isRecordedLate: status !== "met_late" && isRecordedLate(),
    },
  );
};

/** The whole last second counts, and a leap second counts as the one before it. */
const isInTime = (at: string, dueAt: string): boolean =>
  at.slice(0, dueAt.length).replace(/:60$/, ":59") <= dueAt;

/** Whether the log received it more than a grace after a time. */
export const isRecordedAfter = (
  { recorded }: Pick<Fact, "recorded">,
  time: string,
  graceMs: number,
): boolean => recorded > time && instantOf(`${recorded}Z`) - instantOf(`${time}Z`) > graceMs;

const dueOf = (parts: {
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
