/** An obligation: what starts and stops it, its waivers, and its state at a time, from what the events say and from the clock. Pure. */
import { timeKey } from "../../event/formats.ts";
import { DUE_SOON_DAYS } from "../../limits.ts";
import type { Awareness } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { appliesTo, type Deadline, type DeadlineId, type NamedBases } from "./deadline-table.ts";
import { DAY_MS, dateIn, dueOf, instantOf, isInTime, isRecordedAfter } from "./due-date.ts";

export interface Obligation {
  /** The rule and the id of the starting event. */
  readonly id: string;
  readonly rule: DeadlineId;
  readonly startedBy: Fact;
  /** The asset whose obligation it is: where a notice started the clock, that of the decision. */
  readonly asset: string;
  /** RFC 3339 in UTC without the zone, so that it sorts by time. */
  readonly startedAt: string;
  readonly startedRecorded: string;
  /**
   * The last second in which it can be met, in the same form. For LL144-NOTICE it is the first second in which the tool may be used. If the tool was
   * used earlier, it is the time of that use, and the obligation is breached.
   */
  readonly dueAt: string;
  /** Of LL144-NOTICE, where there is a notice: the first second in which the tool may be used. */
  readonly earliestDecisionAt: string | undefined;
  readonly stoppedBy: Fact | undefined;
  /** What the events say. Whether an open obligation is overdue depends on the reader's time. */
  readonly status: ObligationStatus;
  /**
   * Whether it was met in time, or is open, only by what the log received after it fell due, and after the grace that the operator gives: the event that met
   * it, an extension, or a later start.
   */
  readonly isRecordedLate: boolean;
  /** Present as long as it stands, also where the obligation was met after all. */
  readonly waiver: Waiver | undefined;
  readonly extensions: number;
  readonly extendedRecorded: string | undefined;
  readonly extensionReasons: readonly string[];
  readonly decisionId: string | undefined;
  readonly objectionId: string | undefined;
  readonly incidentId: string | undefined;
  /** The events of what it is about, one of which may have started it before an earlier one arrived. */
  readonly thing: readonly Fact[];
}

/**
 * `waiting`: a notice was given, and no decision yet: nothing falls due until there is one. `breached`: what had to come before a decision did not come, so
 * that nothing can meet it any more.
 */
export const OBLIGATION_STATUSES = ["open", "waiting", "met", "met_late", "breached", "waived"] as const;
export type ObligationStatus = (typeof OBLIGATION_STATUSES)[number];

export interface Rules {
  readonly deadlines: readonly Deadline[];
  /** How long after the due time an event that met an obligation in time may reach the log before it counts as recorded late. */
  readonly lateRecordGraceMs: number;
  readonly holidays: ReadonlySet<string>;
  /** 0 for the table as it is. */
  readonly version: number;
}

/** What starts an obligation. */
export interface Start {
  readonly deadline: DeadlineId;
  readonly by: Fact;
  /** Set if the law counts from another time than that of the event: what says so, in order. The last counts. */
  readonly aware?: readonly Awareness[];
  readonly stop: Fact | undefined;
  /** What counts in the place of `stop` where that comes too late: it had met the obligation already. */
  readonly metBefore?: Fact | undefined;
  readonly told?: readonly Fact[];
  readonly named: NamedBases;
  /** What began the obligation. Of these, the first that names legal bases says under which laws it began. Absent: `by`. */
  readonly begunBy?: readonly (Fact | undefined)[];
  readonly about: Partial<Pick<Obligation, "decisionId" | "objectionId" | "incidentId">>;
  readonly thing: readonly Fact[];
}

export const obligation = (
  { deadline, by, stop, about, thing }: Start,
  found: Pick<Obligation, "startedAt" | "startedRecorded" | "dueAt" | "status" | "isRecordedLate"> & {
    readonly extendedBy: readonly Fact[];
  },
): Obligation => {
  const { extendedBy, ...known } = found;
  return {
    ...known,
    id: `${deadline}:${by.id}`,
    rule: deadline,
    startedBy: by,
    asset: by.asset,
    stoppedBy: stop,
    decisionId: about.decisionId,
    objectionId: about.objectionId,
    incidentId: about.incidentId,
    thing,
    earliestDecisionAt: undefined,
    waiver: undefined,
    extensions: extendedBy.length,
    extendedRecorded: extendedBy
      .map(({ recorded }) => recorded)
      .sort()
      .at(-1),
    extensionReasons: extendedBy.flatMap(({ says }) => says.reason ?? []),
  };
};

/** Whether its law asks for it, and did so already when it began. */
export const isInForce = (
  rule: Deadline,
  startedAt: string,
  { by, named, begunBy = [by] }: Pick<Start, "by" | "named" | "begunBy">,
): boolean => {
  const first = begunBy.find((fact) => fact?.bases !== undefined);
  if (!appliesTo(rule, named, first?.bases ?? [])) return false;
  // Checked last: most decisions have no such obligation at all.
  return rule.appliesFrom === undefined || dateIn(rule.zone, `${startedAt}Z`) >= rule.appliesFrom;
};

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

export const OBLIGATION_WAIVED = "system.obligation_waived";
export const OBLIGATION_UNWAIVED = "system.obligation_unwaived";

/** A stated reason why an obligation will not be met. Waivers and their withdrawals are administrative events, so the log keeps who and when. */
export interface Waiver {
  readonly at: string;
  readonly by: string;
  readonly reason: string;
  readonly sequence: Fact["sequence"];
}

/** What is waived: an obligation, and the events of the objection, decision, incident or review that it is about. */
interface Waivable {
  readonly id: string;
  readonly rule: string;
  readonly thing: readonly Pick<Fact, "id">[];
}

export const isWaiver = ({ type }: Pick<Fact, "type">): boolean =>
  type === OBLIGATION_WAIVED || type === OBLIGATION_UNWAIVED;

const NO_WAIVERS: ReadonlyMap<string, Waiver> = new Map();

/**
 * The waivers that stand, by the id of the obligation. The order is that of the log, which no clock changes: the first one stands until it is withdrawn. An
 * obligation has another id once an earlier event starts it, so a waiver also finds it by the event that started it before.
 */
export const waiversIn = (
  facts: readonly Fact[],
  obligations: readonly Waivable[],
): ReadonlyMap<string, Waiver> => {
  if (facts.length === 0) return NO_WAIVERS;
  const ids = new Set(obligations.map(({ id }) => id));
  const currentId = (said: string): string | undefined =>
    ids.has(said)
      ? said
      : obligations.find(({ rule, thing }) => thing.some(({ id }) => said === `${rule}:${id}`))?.id;
  const waivers = new Map<string, Waiver>();
  for (const { type, at, sequence, says } of facts.toSorted((one, other) => one.sequence - other.sequence)) {
    const { obligation_id: said, actor: by, reason } = says;
    const id = said === undefined ? undefined : currentId(said);
    if (id === undefined) continue;
    if (type === OBLIGATION_UNWAIVED) waivers.delete(id);
    else if (by !== undefined && reason !== undefined && !waivers.has(id))
      waivers.set(id, { at, by, reason, sequence });
  }
  return waivers;
};

export const OBLIGATION_STATES = [
  "open",
  "extended",
  "due_soon",
  "overdue",
  "breached",
  "met",
  "met_late",
  "waived",
] as const;
export type ObligationState = (typeof OBLIGATION_STATES)[number];

/** Times as text that sorts, without the zone, which is UTC. */
export const stateAt = (
  { status, dueAt, extensions }: Pick<Obligation, "status" | "dueAt" | "extensions">,
  now: string,
): ObligationState => {
  // Nothing falls due until there is a decision.
  if (status === "waiting") return "open";
  if (status !== "open") return status;
  // The whole last second counts.
  if (dueAt < now.slice(0, dueAt.length)) return "overdue";
  if (dueAt < soonAfter(now)) return "due_soon";
  return extensions > 0 ? "extended" : "open";
};

export const isOverdue = (dueAt: string, now: string): boolean =>
  stateAt({ status: "open", dueAt, extensions: 0 }, now) === "overdue";

export const firstDueOf = (obligations: readonly Pick<Obligation, "dueAt">[]): string | undefined =>
  obligations.map(({ dueAt }) => dueAt).sort()[0];

export const soonAfter = (now: string): string =>
  timeKey(new Date(instantOf(`${now}Z`) + DUE_SOON_DAYS * DAY_MS).toISOString());

/** The first moment at which a duty that is due then counts as due soon. */
export const soonBefore = (due: string): string =>
  timeKey(new Date(instantOf(`${due}Z`) - DUE_SOON_DAYS * DAY_MS + 1000).toISOString());

export const TRANSITIONS = ["open", "due", "met", "late", "late_record", "breached", "waived"] as const;
export type Transition = (typeof TRANSITIONS)[number];

interface Notified {
  readonly state: ObligationState;
  readonly dueAt: string;
}

export interface Current extends Notified {
  readonly isRecordedLate: boolean;
}

const TRANSITION: Readonly<Record<ObligationState, Transition>> = {
  open: "open",
  extended: "open",
  due_soon: "due",
  overdue: "late",
  breached: "breached",
  met_late: "late",
  met: "met",
  waived: "waived",
};

/**
 * What was announced as overdue or breached may later be met or run again, by an event that the log received late: whoever acted on the first message
 * must be able to tell that from an obligation that was met in time.
 */
const transitionTo = (now: Current, before: Notified): Transition => {
  const wasMissed = before.state === "overdue" || before.state === "breached";
  const isLate =
    now.state === "met" ? wasMissed || now.isRecordedLate : wasMissed && now.isRecordedLate && isRunning(now);
  return isLate ? "late_record" : TRANSITION[now.state];
};

const isRunning = ({ state }: Notified): boolean =>
  state === "open" || state === "extended" || state === "due_soon";

/** A duty not announced before is first announced as open. One whose limit has changed is announced again, so that its newest message is right. */
export const transitionsTo = (now: Current, before: Notified | undefined): readonly Transition[] => {
  if (before === undefined) {
    const transition = TRANSITION[now.state];
    return transition === "open" ? ["open"] : ["open", transition];
  }
  return before.state === now.state && before.dueAt === now.dueAt ? [] : [transitionTo(now, before)];
};

/** When it changes next if no event comes; a time as text that sorts by time. */
export const nextBoundary = ({ state, dueAt }: Notified): string | undefined => {
  if (state === "open" || state === "extended") return soonBefore(dueAt);
  return state === "due_soon" ? dueAt : undefined;
};
