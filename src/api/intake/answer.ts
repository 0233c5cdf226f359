/** All answers of the intake, as closed unions. http/problem.ts gives each its status. */
import type { RateDecision } from "../../access/rate-limit.ts";
import type { Problem } from "../../event/validate.ts";
import type { Warning } from "../../event/warnings.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { BatchWarning } from "./batch-warnings.ts";

/** Why a whole request was refused. */
export type Refusal =
  | { readonly kind: "invalid_utf8" }
  | { readonly kind: "invalid_json"; readonly detail: string }
  | { readonly kind: "invalid_request"; readonly problems: readonly Problem[]; readonly problemCount: number }
  | { readonly kind: "event_too_large" }
  | Extract<RateDecision, { readonly kind: "limited" }>
  | { readonly kind: "conflict"; readonly identity: "event_id" | "idempotency_key" }
  | { readonly kind: "overloaded"; readonly detail: string }
  /** It could not be decided in time whether the log already holds the events. Nothing was stored. */
  | { readonly kind: "view_behind" }
  /** The key was revoked or expired while the request waited. Nothing was stored. */
  | { readonly kind: "key_ended" }
  | { readonly kind: "unavailable"; readonly detail: string };

export interface AcceptedEvent {
  readonly kind: "accepted";
  readonly eventId: string;
  readonly sequence: Sequence;
  readonly receivedAt: string;
  /** See receipt.ts. */
  readonly leafHash: string;
  readonly duplicate: boolean;
  readonly warnings: readonly Warning[];
}

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

export interface BatchReceipt {
  readonly index: number;
  readonly eventId: string;
  readonly sequence: Sequence;
  readonly receivedAt: string;
  readonly leafHash: string;
  readonly duplicate: boolean;
}

export interface BatchAnswer {
  readonly kind: "answered";
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly RejectedEvent[];
  readonly warnings: readonly BatchWarning[];
  /** One per accepted event, if the request asked for receipts. */
  readonly receipts?: readonly BatchReceipt[];
  /** Highest sequence among the accepted events; absent if none was accepted. */
  readonly sequence?: Sequence;
}
