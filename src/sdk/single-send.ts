/** `send()`: one event, awaited, past the outbox. Its idempotency key follows from the event, so that sending it again is safe however often (SPEC 4.1). */
import { setTimeout as delay } from "node:timers/promises";
import type { Rejection } from "./delivery.ts";
import { RESENT_AFTER_MS, RETRY_CAP_MS } from "./limits.ts";
import { nextAttemptMs } from "./retry.ts";
import { type Answer, post, type ServiceAddress } from "./service.ts";
import { uuid5 } from "./uuid.ts";

export interface Receipt {
  readonly event_id: string;
  /** Place in the log. */
  readonly sequence: number;
  /** RFC 3339. */
  readonly received_at: string;
  /** True where the log had the event already. */
  readonly duplicate: boolean;
  /** SHA-256 of the record, base64: the event's leaf in the proof log. */
  readonly leaf_hash: string;
}

export type Sent =
  /** It is in the log, synced to disk. */
  | { readonly kind: "stored"; readonly receipt: Receipt }
  /** It is not, and never will be as it is. */
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /** Not known: the time was over, or the service refuses this client. The same event sent again is stored at most once. */
  | { readonly kind: "unknown"; readonly reason: string };

/** Of the idempotency keys of this SDK. */
const NAMESPACE = "6f0b2c64-7d0a-4f5e-9d5d-2a1d0c6e8b47";

export const idempotencyKey = (eventId: string): string => uuid5(NAMESPACE, eventId);

export const sendOne = async (
  service: ServiceAddress,
  event: { readonly eventId: string; readonly body: Uint8Array<ArrayBuffer> },
  {
    timeoutMs,
    signal,
    random,
  }: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly random: () => number },
): Promise<Sent> => {
  const startedMs = performance.now();
  const headers = { "idempotency-key": idempotencyKey(event.eventId) };
  for (let failures = 1; ; failures++) {
    const path = performance.now() - startedMs > RESENT_AFTER_MS ? "/v1/events?resent=true" : "/v1/events";
    const answer = await post(service, { path, body: event.body, headers, signal });
    if (answer.kind !== "again") return sentOf(answer);
    const { askedMs, reason } = answer;
    const waitMs = nextAttemptMs({ failures, capMs: RETRY_CAP_MS, askedMs, random });
    if (signal.aborted || performance.now() + waitMs - startedMs > timeoutMs)
      return { kind: "unknown", reason };
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
};

const sentOf = (answer: Exclude<Answer, { readonly kind: "again" }>): Sent => {
  if (answer.kind === "refused") return { kind: "unknown", reason: answer.reason };
  if (answer.kind === "rejected") return { kind: "rejected", rejection: answer.rejection };
  const { event_id, sequence, received_at, duplicate, leaf_hash } = answer.data;
  const isReceipt =
    typeof event_id === "string" &&
    typeof sequence === "number" &&
    typeof received_at === "string" &&
    typeof leaf_hash === "string";
  if (!isReceipt) return { kind: "unknown", reason: "HTTP 202 without a receipt." };
  return {
    kind: "stored",
    receipt: { event_id, sequence, received_at, duplicate: duplicate === true, leaf_hash },
  };
};
