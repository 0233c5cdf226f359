/** `send()`: sends one event without the outbox and waits. Its idempotency key is derived from the event, so that sending it again is safe (SPEC 4.1). */
import { setTimeout as delay } from "node:timers/promises";
import { RESENT_AFTER_MS, RETRY_CAP_MS } from "./limits.ts";
import type { DroppedEvent } from "./reports.ts";
import { mayBeOlderThan, nextAttemptMs } from "./retry.ts";
import {
  type EventWarning,
  isFinal,
  post,
  type Rejection,
  SANDBOX_EVENTS_PATH,
  type ServiceAddress,
  warningsIn,
} from "./service.ts";
import { uuid5 } from "./uuid.ts";
import type { JsonObject } from "./values.ts";

export interface Receipt {
  readonly event_id: string;
  /** Its sequence in the log. */
  readonly sequence: number;
  /** RFC 3339. */
  readonly received_at: string;
  /** True if the log already had the event. */
  readonly duplicate: boolean;
  /** SHA-256 of the record, base64: the event's leaf in the proof log. Empty in the sandbox and from a test client, which have no proof log. */
  readonly leaf_hash: string;
  /** Members that were stored but mean nothing to the service, such as misspelt ones. Absent if there are none. */
  readonly warnings?: readonly EventWarning[];
}

export type Sent =
  /** The event is in the log, synced to disk. */
  | { readonly kind: "stored"; readonly receipt: Receipt }
  /** The event is not in the log and will never be accepted as it is. */
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /**
   * The outcome is unknown: the time was over, or the service or a proxy refuses this client. `again` sends the same event with the same key: it is
   * stored at most once.
   */
  | { readonly kind: "unknown"; readonly reason: string; readonly again: () => Promise<Sent> };

/** The outcome of a value that could not be made into an event, so nothing was sent. */
export const rejectedAs = ({ reason, message, path }: DroppedEvent): Sent => {
  const errors = path === undefined ? [] : [{ path, code: reason, message }];
  return { kind: "rejected", rejection: { code: reason, message, errors } };
};

interface Sending {
  readonly service: ServiceAddress;
  readonly eventId: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** `firstMs`: when the first attempt began (`Date.now()`). */
export const sendOne = async (sending: Sending, firstMs = Date.now()): Promise<Sent> => {
  const { service, eventId, body, timeoutMs, signal } = sending;
  const startedMs = performance.now();
  const unknown = (reason: string): Sent => ({
    kind: "unknown",
    reason,
    again: () => sendOne(sending, firstMs),
  });
  for (let failures = 1; ; failures++) {
    const request = requestFor(sending, mayBeOlderThan(firstMs, RESENT_AFTER_MS));
    const leftMs = Math.max(1, timeoutMs - (performance.now() - startedMs));
    const inTime = { ...service, requestTimeoutMs: Math.min(service.requestTimeoutMs, Math.ceil(leftMs)) };
    const answer = await post(inTime, { ...request, body, signal });
    if (answer.kind === "refused") return unknown(answer.reason);
    // Something in between refused this attempt, which says nothing about an earlier one.
    if (answer.kind === "rejected")
      return isFinal(answer)
        ? { kind: "rejected", rejection: answer.rejection }
        : unknown(answer.rejection.message);
    if (answer.kind === "taken") {
      const receipt = receiptIn(answer.data, service);
      if (!receipt) return unknown("HTTP 202 without a receipt.");
      // A proxy that mixes up connections may deliver the answer to another request.
      if (receipt.event_id.toLowerCase() !== eventId.toLowerCase())
        return unknown(`The receipt is for another event: ${receipt.event_id}.`);
      return { kind: "stored", receipt };
    }
    const { askedMs, reason } = answer;
    const waitMs = nextAttemptMs({ failures, capMs: RETRY_CAP_MS, askedMs, random: Math.random });
    // Written so that it also ends if the time is not a number.
    const isInTime = performance.now() + waitMs - startedMs <= timeoutMs;
    if (signal.aborted || !isInTime) return unknown(reason);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
};

/** The namespace of this SDK's idempotency keys. */
const NAMESPACE = "6f0b2c64-7d0a-4f5e-9d5d-2a1d0c6e8b47";

/** `isLate`: an earlier attempt may be one that the broker has forgotten. The sandbox recognizes an event by its id alone. */
const requestFor = ({ service, eventId }: Sending, isLate: boolean) =>
  service.apiKey === undefined
    ? { path: SANDBOX_EVENTS_PATH }
    : {
        path: isLate ? "/v1/events?resent=true" : "/v1/events",
        headers: { "idempotency-key": uuid5(NAMESPACE, eventId) },
      };

const receiptIn = (data: JsonObject, { apiKey }: ServiceAddress): Receipt | undefined => {
  const { event_id, sequence, received_at, duplicate } = data;
  // The sandbox has no proof log.
  const leaf_hash = apiKey === undefined ? "" : data.leaf_hash;
  const isReceipt =
    typeof event_id === "string" &&
    typeof sequence === "number" &&
    typeof received_at === "string" &&
    typeof leaf_hash === "string";
  if (!isReceipt) return undefined;
  const warnings = warningsIn(data).map(({ warning }) => warning);
  const receipt = { event_id, sequence, received_at, duplicate: duplicate === true, leaf_hash };
  return warnings.length > 0 ? { ...receipt, warnings } : receipt;
};
