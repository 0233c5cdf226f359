/** What there is to tell of a duty: from what was told last and what is so now. Pure. */
import { type ObligationState, soonBefore } from "./state.ts";

export type Transition = "open" | "due" | "met" | "late";

/** What was told of a duty last. */
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

/** When it changes next without an event, if nothing happens; a time as text that sorts. */
export const nextBoundary = ({ state, dueAt }: Told): string | undefined => {
  if (state === "open" || state === "extended") return soonBefore(dueAt);
  return state === "due_soon" ? dueAt : undefined;
};
