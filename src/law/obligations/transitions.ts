/** The transitions of a duty to announce: from what was announced last and what is true now. Pure. */
import { type ObligationState, soonBefore } from "./state.ts";

export const TRANSITIONS = ["open", "due", "met", "late", "late_record", "breached", "waived"] as const;
export type Transition = (typeof TRANSITIONS)[number];

export interface Told {
  readonly state: ObligationState;
  readonly dueAt: string;
}

export interface Current extends Told {
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
 * What was announced as overdue or breached, and is met or runs again by now, is so by an event that the log received only later: whoever acted on the first
 * message must be able to tell that from an obligation that was met in time.
 */
const transitionTo = (now: Current, before: Told): Transition => {
  const wasMissed = before.state === "overdue" || before.state === "breached";
  const isLate =
    now.state === "met" ? wasMissed || now.isRecordedLate : wasMissed && now.isRecordedLate && isRunning(now);
  return isLate ? "late_record" : TRANSITION[now.state];
};

const isRunning = ({ state }: Told): boolean =>
  state === "open" || state === "extended" || state === "due_soon";

/** A duty that was never told of is told to have opened first. One whose limit has changed is told of anew, so that the newest message about it is right. */
export const transitionsTo = (now: Current, before: Told | undefined): readonly Transition[] => {
  if (before === undefined) {
    const transition = TRANSITION[now.state];
    return transition === "open" ? ["open"] : ["open", transition];
  }
  return before.state === now.state && before.dueAt === now.dueAt ? [] : [transitionTo(now, before)];
};

/** When it changes next if no event comes; a time as text that sorts by time. */
export const nextBoundary = ({ state, dueAt }: Told): string | undefined => {
  if (state === "open" || state === "extended") return soonBefore(dueAt);
  return state === "due_soon" ? dueAt : undefined;
};
