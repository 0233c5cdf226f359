/** `send()`: one event, awaited, past the outbox. Its idempotency key follows from the event, so that sending it again is safe however often (SPEC 4.1). */
import { setTimeout as delay } from "node:timers/promises";
import { isFinal } from "./after-delivery.ts";
import type { EventWarning, Rejection } from "./delivery.ts";
import type { JsonObject } from "./json-object.ts";
import { RESENT_AFTER_MS, RETRY_CAP_MS } from "./limits.ts";
import { type Moment, mayBeOlderThan, thisMoment } from "./moment.ts";
import type { DroppedEvent } from "./reports.ts";
import { nextAttemptMs } from "./retry.ts";
import { SANDBOX_EVENTS_PATH } from "./sandbox-delivery.ts";
import { post, type ServiceAddress, type ServiceRequest, warningsIn } from "./service.ts";
import { uuid5 } from "./uuid.ts";

export interface Receipt {
  readonly event_id: string;
  /** Place in the log. */
  readonly sequence: number;
  /** RFC 3339. */
  readonly received_at: string;
  /** True where the log had the event already. */
  readonly duplicate: boolean;
  /** SHA-256 of the record, base64: the event's leaf in the proof log. Empty where there is none: in the sandbox, and from a test client. */
  readonly leaf_hash: string;
  /** What was kept but has no meaning to the service, such as a misspelt member. Absent where there is nothing of the kind. */
  readonly warnings?: readonly EventWarning[];
}

export type Sent =
  /** It is in the log, synced to disk. */
  | { readonly kind: "stored"; readonly receipt: Receipt }
  /** It is not, and never will be as it is. */
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /** Not known: the time was over, or the service, or what stands before it, refuses this client. `again` sends the very same, under the same key: it is stored at most once. */
  | { readonly kind: "unknown"; readonly reason: string; readonly again: () => Promise<Sent> };

/** What was not made into an event is not sent. */
export const rejectedAs = ({ reason, message, path }: DroppedEvent): Sent => {
  const errors = path === undefined ? [] : [{ path, code: reason, message }];
  return { kind: "rejected", rejection: { code: reason, message, errors } };
};

/** Of the idempotency keys of this SDK. */
const NAMESPACE = "6f0b2c64-7d0a-4f5e-9d5d-2a1d0c6e8b47";

const idempotencyKey = (eventId: string): string => uuid5(NAMESPACE, eventId);

/** Where single events go, and what comes back from there. */
export interface SingleRoute {
  /** `isLate`: an attempt before may be one that the broker has forgotten. */
  request(eventId: string, isLate: boolean): Pick<ServiceRequest, "path" | "headers">;
  receiptIn(data: JsonObject): Receipt | undefined;
}

interface Sending {
  readonly service: ServiceAddress;
  readonly route: SingleRoute;
  readonly eventId: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly random: () => number;
}

export const sendOne = async (sending: Sending): Promise<Sent> => attempt(sending, thisMoment());

const attempt = async (sending: Sending, first: Moment): Promise<Sent> => {
  const { service, route, eventId, body, timeoutMs, signal, random } = sending;
  const startedMs = performance.now();
  const unknown = (reason: string): Sent => ({
    kind: "unknown",
    reason,
    again: () => attempt(sending, first),
  });
  for (let failures = 1; ; failures++) {
    const isLate = mayBeOlderThan(first, RESENT_AFTER_MS);
    const leftMs = Math.max(1, timeoutMs - (performance.now() - startedMs));
    const inTime = { ...service, requestTimeoutMs: Math.min(service.requestTimeoutMs, Math.ceil(leftMs)) };
    const answer = await post(inTime, { ...route.request(eventId, isLate), body, signal });
    if (answer.kind === "refused") return unknown(answer.reason);
    // In words of its own something in between has refused this attempt, which says nothing of one before.
    if (answer.kind === "rejected")
      return isFinal(answer)
        ? { kind: "rejected", rejection: answer.rejection }
        : unknown(answer.rejection.message);
    if (answer.kind === "taken") {
      const receipt = route.receiptIn(answer.data);
      if (!receipt) return unknown("HTTP 202 without a receipt.");
      // What mixes up connections on the way may hand over the answer to another request.
      if (receipt.event_id.toLowerCase() !== eventId.toLowerCase())
        return unknown(`The receipt is of another event: ${receipt.event_id}.`);
      return { kind: "stored", receipt };
    }
    const { askedMs, reason } = answer;
    const waitMs = nextAttemptMs({ failures, capMs: RETRY_CAP_MS, askedMs, random });
    // So that it ends also where the time is no number.
    const isInTime = performance.now() + waitMs - startedMs <= timeoutMs;
    if (signal.aborted || !isInTime) return unknown(reason);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
};

const receiptIn = (data: JsonObject): Receipt | undefined => {
  const { event_id, sequence, received_at, duplicate, leaf_hash } = data;
  const isReceipt =
    typeof event_id === "string" &&
    typeof sequence === "number" &&
    typeof received_at === "string" &&
    typeof leaf_hash === "string";
  if (!isReceipt) return undefined;
  const warnings = warningsIn(data).map(({ warning }) => warning);
  return {
    event_id,
    sequence,
    received_at,
    duplicate: duplicate === true,
    leaf_hash,
    ...(warnings.length > 0 && { warnings }),
  };
};

export const LOG_ROUTE: SingleRoute = {
  request: (eventId, isLate) => ({
    path: isLate ? "/v1/events?resent=true" : "/v1/events",
    headers: { "idempotency-key": idempotencyKey(eventId) },
  }),
  receiptIn,
};

/** Knows an event again by its id alone, and has no proof log. */
export const SANDBOX_ROUTE: SingleRoute = {
  request: () => ({ path: SANDBOX_EVENTS_PATH }),
  receiptIn: (data) => receiptIn({ ...data, leaf_hash: "" }),
};
