/** The possible results of verifying a bundle. */
import type { BundleFile } from "./manifest.ts";

export type FindingCode =
  /** A file of the bundle is missing, or there is a foreign one. */
  | "other_files"
  /** A file cannot be read, or is not the one that the manifest names. */
  | "damaged_file"
  | "manifest_malformed"
  /** The bundle, or a record in it, belongs to another tenant than expected. */
  | "other_tenant"
  | "key_malformed"
  /** The checkpoint does not belong to the log that the manifest names. */
  | "checkpoint_malformed"
  /** No trusted key has signed it. */
  | "unknown_key"
  | "bad_signature"
  /** A line is not a record and its proof, or the record is invalid. */
  | "record_malformed"
  | "duplicate_record"
  | "reordered_record"
  /** A leaf that must be here is missing. */
  | "missing_record"
  /** The record is not in the log that the checkpoint covers: it was altered, or never was in it. */
  | "not_in_log"
  | "outside_filter"
  /** `events.ndjson` differs from the records. */
  | "event_differs"
  /** The manifest describes other records than those in the bundle. */
  | "manifest_differs"
  /** The system's log has no event that a bundle with this manifest was made. */
  | "not_anchored"
  /** It comes from the sandbox, whose events are in no log. */
  | "sandbox_proof"
  /** A proof of one event is none, or its `leaf_hash` is not that of its record. */
  | "proof_malformed"
  /** The log holds another record than the one that was acknowledged. */
  | "receipt_differs"
  /** The bundle's checkpoint contradicts the auditor's own. */
  | "contradicts_checkpoint";

/** The first problem that was found. */
export interface Finding {
  readonly code: FindingCode;
  readonly detail: string;
  readonly file?: BundleFile | string;
  /** Counted from 1. */
  readonly line?: number;
  readonly leafIndex?: number;
  readonly sequence?: number;
  readonly eventId?: string;
}

export interface EvidenceFacts {
  readonly tenant: string;
  readonly origin: string;
  readonly assetId: string | null;
  readonly correlationId: string | null;
  /** Where the bundle is about several assets, about a decision, about a person. */
  readonly assetIds?: readonly string[];
  readonly decisionId?: string;
  readonly subjectHash?: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly generatedAt: string;
  readonly madeBy: string;
  readonly records: number;
  readonly withheld: number;
  /** Every record of the tenant up to the checkpoint is in the bundle. Otherwise it contains a selection. */
  readonly isComplete: boolean;
  readonly checkpointSize: number;
  /** Base64. */
  readonly checkpointRoot: string;
  /** The verifier keys on whose signatures the result rests: those on the checkpoint, and any others on the anchor. */
  readonly keys: readonly string[];
  /** Whether these keys were given to the verifier instead of taken from the bundle. */
  readonly isKeyPinned: boolean;
  readonly anchor: { readonly origin: string; readonly leafIndex: number; readonly at: string };
  /** How the auditor's own checkpoint relates to this one. */
  readonly heldCheckpoint: "none" | "same" | "consistent";
  /** Notes that do not make the bundle invalid. */
  readonly notes: readonly string[];
}

export type Verdict =
  | { readonly kind: "valid"; readonly facts: EvidenceFacts }
  | { readonly kind: "invalid"; readonly finding: Finding }
  /** The question cannot be answered: the ZIP or the auditor's input cannot be read, or more input is needed. */
  | { readonly kind: "undecided"; readonly detail: string };
