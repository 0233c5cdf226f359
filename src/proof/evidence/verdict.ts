/** What a verification ends with: the first thing that is wrong, or that cannot be decided. */
import type { Manifest } from "./manifest.ts";

export type FindingCode =
  | "other_files"
  | "damaged_file"
  | "manifest_malformed"
  /** The bundle, or a record in it, belongs to another tenant than expected. */
  | "other_tenant"
  | "key_malformed"
  | "checkpoint_malformed"
  | "unknown_key"
  | "bad_signature"
  | "record_malformed"
  | "duplicate_record"
  | "reordered_record"
  | "missing_record"
  /** The record is not in the log that the checkpoint covers: it was altered, or never was in it. */
  | "not_in_log"
  | "outside_filter"
  | "event_differs"
  | "manifest_differs"
  | "not_anchored"
  /** It comes from the sandbox, whose events are in no log. */
  | "sandbox_proof"
  /** A proof of one event is none, or its `leaf_hash` is not that of its record. */
  | "proof_malformed"
  | "receipt_differs"
  | "contradicts_checkpoint";

export interface Finding {
  readonly code: FindingCode;
  readonly detail: string;
  readonly file?: string;
  /** Counted from 1. */
  readonly line?: number;
  readonly leafIndex?: number;
  readonly sequence?: number;
  readonly eventId?: string;
}

/** What the manifest says, which names its members as the API does, and on what the result rests. */
export interface EvidenceFacts
  extends Omit<
    Manifest,
    | "format"
    | "version"
    | "generator"
    | "service"
    | "request_id"
    | "complete_range"
    | "first"
    | "last"
    | "files"
  > {
  /** Every record of the tenant up to the checkpoint is in the bundle. Otherwise it is a selection. */
  readonly isComplete: boolean;
  /** The verifier keys on whose signatures the result rests: those on the checkpoint, and any others on the anchor. */
  readonly keys: readonly string[];
  /** Whether these keys were given to the verifier instead of taken from the bundle. */
  readonly isKeyPinned: boolean;
  readonly anchor: { readonly origin: string; readonly leafIndex: number; readonly at: string };
  readonly heldCheckpoint: "none" | "same" | "consistent";
  /** Notes that do not make the bundle invalid. */
  readonly notes: readonly string[];
}

export type NotValid =
  | { readonly kind: "invalid"; readonly finding: Finding }
  /** The question cannot be answered: the ZIP or the auditor's input cannot be read, or more input is needed. */
  | { readonly kind: "undecided"; readonly detail: string };

export type Verdict = { readonly kind: "valid"; readonly facts: EvidenceFacts } | NotValid;

class EndedError extends Error {
  override readonly name = "EndedError";
  readonly verdict: NotValid;
  constructor(verdict: NotValid) {
    super(verdict.kind);
    this.verdict = verdict;
  }
}

export type Place = Omit<Finding, "code" | "detail">;

export const fail = (code: FindingCode, detail: string, place: Place = {}): never => {
  throw new EndedError({ kind: "invalid", finding: { code, detail, ...place } });
};

export const undecided = (detail: string): never => {
  throw new EndedError({ kind: "undecided", detail });
};

/** How a verification ended; throws again what is not an end of one. */
export const endOf = (error: unknown): NotValid => {
  if (error instanceof EndedError) return error.verdict;
  throw error;
};
