/** The transitions of a duty to announce: from what was announced last and what is true now. Pure. */
import { type ObligationState, soonBefore } from "./state.ts";

export type Transition = "open" | "due" | "met" | "late";

/** The last announcement of a duty. */
export interface Told {
  readonly state: ObligationState;
  readonly dueAt: string;
}

export const TRANSITION: Readonly<Record<ObligationState, Transition>> = {
  open: "open",
  extended: "open",
  due_soon: "due",
  overdue: "late",
  met_late: "late",
  met: "met",
};

/** A duty that was never told of is told to have opened first. One whose limit has changed is told of anew, so that the newest message about it is right. */
export const transitionsTo = (now: Told, before: Told | undefined): readonly Transition[] => {
  const transition = TRANSITION[now.state];
  if (before === undefined) return transition === "open" ? ["open"] : ["open", transition];
  return before.state === now.state && before.dueAt === now.dueAt ? [] : [transition];
};

/** When it changes next if no event comes; a time as text that sorts by time. */
export const nextBoundary = ({ state, dueAt }: Told): string | undefined => {
  if (state === "open" || state === "extended") return soonBefore(dueAt);
  return state === "due_soon" ? dueAt : undefined;
};
