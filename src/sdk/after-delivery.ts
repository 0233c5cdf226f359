/**
 * What to do after a request, by what became of it and how many events it had. Pure: `sender.ts` does it. What one event is at fault for costs that
 * event alone: a request that is refused because of what is in it is halved until the event stands alone.
 */
import type { Answered, Delivery } from "./delivery.ts";
import { REFUSED_RETRY_CAP_MS, RETRY_CAP_MS } from "./limits.ts";

export type NextStep =
  /** Each event by its own outcome. */
  | { readonly kind: "settle"; readonly answer: Answered }
  /** All of them stay as they are, and the next request has half as many. */
  | { readonly kind: "halve"; readonly wait: Wait | undefined }
  /** The one event stands aside for so long, and the others go first. `isFirm`: also where flushes follow each other. */
  | { readonly kind: "set_aside"; readonly forMs: number; readonly isFirm: boolean; readonly wait: Wait }
  /** All of them stay as they are. */
  | { readonly kind: "wait"; readonly wait: Wait };

/** Nothing is sent meanwhile. */
export interface Wait {
  readonly reason: string;
  /** The kind of problem that is told. */
  readonly problem: "not_delivered" | "refused" | "outbox";
  readonly capMs: number;
  readonly askedMs?: number | undefined;
}

export const afterDelivery = (delivery: Delivery, events: number): NextStep => {
  switch (delivery.kind) {
    case "answered":
      return { kind: "settle", answer: delivery };
    case "again":
      return afterFailure(delivery, events);
    case "refused":
      return { kind: "wait", wait: waitOf(delivery, "refused", REFUSED_RETRY_CAP_MS) };
    case "rejected":
      return events > 1 ? afterRejectionOfMany(delivery) : afterRejectionOfOne(delivery);
  }
};

/** What fails by its size, or for one of its events, does so again and again, and holds up all behind it. */
const afterFailure = (failure: Extract<Delivery, { kind: "again" }>, events: number): NextStep => {
  const wait = waitOf(failure, "not_delivered", RETRY_CAP_MS);
  if (failure.suspect !== undefined && events > 1) return { kind: "halve", wait };
  // A flush tries it at once: it may have been the service's own fault.
  if (failure.suspect === "content")
    return { kind: "set_aside", forMs: REFUSED_RETRY_CAP_MS, isFirm: false, wait };
  return { kind: "wait", wait };
};

type Rejected = Extract<Delivery, { kind: "rejected" }>;

/** Whether it is the last word on the event that stood alone in the request. 413 is about the event whoever says it. */
export const isFinal = ({ rejection, isOurs }: Rejected): boolean =>
  isOurs || rejection.code === "status_413";

/** The half of them goes at once, but where to wait was asked for. */
const afterRejectionOfMany = (rejected: Rejected): NextStep => ({
  kind: "halve",
  wait: rejected.askedMs === undefined ? undefined : refusalWait(rejected),
});

const afterRejectionOfOne = (rejected: Rejected): NextStep => {
  const { rejection, isForAll, askedMs } = rejected;
  if (isFinal(rejected)) {
    const outcomes = [{ kind: "rejected", rejection }] as const;
    return { kind: "settle", answer: { kind: "answered", outcomes, duplicates: 0, warnings: [], askedMs } };
  }
  // A proxy that dislikes this event, or all of them.
  const wait = refusalWait(rejected);
  return { kind: "set_aside", forMs: REFUSED_RETRY_CAP_MS, isFirm: isForAll !== true, wait };
};

const refusalWait = ({ rejection: { message }, askedMs }: Rejected): Wait =>
  waitOf({ reason: message, askedMs }, "refused", RETRY_CAP_MS);

const waitOf = (
  { reason, askedMs }: { readonly reason: string; readonly askedMs?: number | undefined },
  problem: Wait["problem"],
  capMs: number,
): Wait => ({ reason, problem, capMs, askedMs });
