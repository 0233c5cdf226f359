/**
 * Decides what to do after a request, from its outcome and its number of events. Pure: `sender.ts` carries it out. If one event is at fault, only
 * that event pays for it: a request that is refused because of its content is halved until that event is alone.
 */
import type { Answered, Delivery } from "./delivery.ts";
import { REFUSED_RETRY_CAP_MS, RETRY_CAP_MS } from "./limits.ts";

export type NextStep =
  /** Each event gets its own outcome. */
  | { readonly kind: "settle"; readonly answer: Answered }
  /** All events stay in the outbox, and the next request carries half as many. */
  | { readonly kind: "halve"; readonly wait: Wait | undefined }
  /** The one event is set aside for `forMs` milliseconds, and the others go first. With `isFirm` a flush does not shorten that time. */
  | { readonly kind: "set_aside"; readonly forMs: number; readonly isFirm: boolean; readonly wait: Wait }
  /** All events stay in the outbox. */
  | { readonly kind: "wait"; readonly wait: Wait };

/** How long nothing is sent, and why. */
export interface Wait {
  readonly reason: string;
  /** Under which kind the problem is reported. */
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

/** A request that fails because of its size, or because of one of its events, would fail again and block all events behind it. */
const afterFailure = (failure: Extract<Delivery, { kind: "again" }>, events: number): NextStep => {
  const wait = waitOf(failure, "not_delivered", RETRY_CAP_MS);
  if (failure.suspect !== undefined && events > 1) return { kind: "halve", wait };
  // Not firm: the service itself may have been at fault, so a flush tries the event at once.
  if (failure.suspect === "content")
    return { kind: "set_aside", forMs: REFUSED_RETRY_CAP_MS, isFirm: false, wait };
  return { kind: "wait", wait };
};

type Rejected = Extract<Delivery, { kind: "rejected" }>;

/** Whether the refusal of a request with one event is final. A 413 is about the event, whoever answered it. */
export const isFinal = ({ rejection, isOurs }: Rejected): boolean =>
  isOurs || rejection.code === "status_413";

/** Half of the events go at once, unless the answer asked for a wait. */
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
  // A proxy refused this event, or refuses every event.
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
