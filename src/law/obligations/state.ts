/** The state of a duty at a time (DOMAIN words): from what the events say and from the clock. */
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
