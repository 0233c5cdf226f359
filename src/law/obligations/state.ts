/** The state of an obligation at a time, from what the events say and from the clock, and which of its changes are notified. Pure. */
import { timeKey } from "../../event/formats.ts";
import { DUE_SOON_DAYS } from "../../limits.ts";
import { DAY_MS, instantOf } from "./calendar.ts";
import type { Obligation } from "./obligation.ts";

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
