/** A request between judging and its answer. */
import type { Problem } from "../../event/validate.ts";
import type { Warning } from "../../event/warnings.ts";
import type { OutgoingRecord } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";

export interface JudgedRequest {
  readonly kind: "judged";
  readonly tenant: string;
  readonly receivedAt: string;
  /** The Idempotency-Key is the identity of its one event. */
  readonly isKeyed: boolean;
  readonly events: readonly JudgedEvent[];
  /** Of a batch: those that are not valid. */
  readonly rejected: readonly RejectedEvent[];
  /** Of a batch: the members beside its events. */
  readonly otherMembers: readonly string[];
}

/** A valid event. Its parsed form is not kept. */
export interface JudgedEvent {
  readonly kind: "judged";
  readonly index: number;
  readonly eventId: string;
  /** In canonical form (event/formats.ts). */
  readonly identity: string;
  readonly warnings: readonly Warning[];
  readonly record: OutgoingRecord;
}

/** What became of a judged event. */
export type Settled =
  | {
      readonly kind: "stored";
      /** As it was spelt when it was first stored. */
      readonly eventId: string;
      readonly sequence: Sequence;
      readonly receivedAt: string;
      /** Empty if no receipt was asked for. */
      readonly leafHash: string;
      readonly duplicate: boolean;
    }
  /** The log has another event with the same identity. */
  | { readonly kind: "conflict"; readonly identity: "event_id" | "idempotency_key" }
  | { readonly kind: "overloaded" | "unavailable"; readonly detail: string };

export const REJECTION_CODES = [
  "invalid_event",
  "payload_too_large",
  "event_id_conflict",
  "log_unavailable",
  "overloaded",
] as const;

/** What went wrong with one event of a batch. */
export interface RejectedEvent {
  readonly index: number;
  readonly eventId?: string;
  readonly code: (typeof REJECTION_CODES)[number];
  readonly message: string;
  readonly problems: readonly Problem[];
  /** Whether sending the same event again can help. */
  readonly retryable: boolean;
}
