/** What a verifier says of a bundle. */
import type { BundleFile } from "./manifest.ts";
import type { ZipFailure } from "./zip-reader.ts";

export type FindingCode =
  | ZipFailure
  /** A file of the bundle is not there, or one is there that is none of it, or they stand in another order. */
  | "other_files"
  /** A file cannot be read, or is not the one that the manifest names. */
  | "damaged_file"
  | "manifest_malformed"
  /** The bundle is of another tenant than was asked for, or a record in it is. */
  | "other_tenant"
  | "key_malformed"
  /** The checkpoint is not one of the log that the manifest names. */
  | "checkpoint_malformed"
  /** Nobody whose key is trusted has signed it. */
  | "unknown_key"
  | "bad_signature"
  /** A line is not one record and its proof, or the record is none. */
  | "record_malformed"
  | "duplicate_record"
  | "reordered_record"
  /** A leaf that must stand here does not. */
  | "missing_record"
  /** The record is not in the log that the checkpoint covers: it was altered, or never was there. */
  | "not_in_log"
  | "outside_filter"
  /** `events.ndjson` does not say what the records say. */
  | "event_differs"
  /** The manifest does not say of the records what is there. */
  | "manifest_differs"
  /** Nobody has written into the system's log that a bundle with this manifest was made. */
  | "not_anchored"
  /** The bundle's checkpoint contradicts one that the auditor holds. */
  | "contradicts_checkpoint";

/** The first thing that is broken. */
export interface Finding {
  readonly code: FindingCode;
  readonly detail: string;
  readonly file?: BundleFile | string;
  /** From 1. */
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
  readonly from: string | null;
  readonly to: string | null;
  readonly generatedAt: string;
  readonly madeBy: string;
  readonly records: number;
  readonly withheld: number;
  /** Every record of the tenant up to the checkpoint is here. Otherwise those that were chosen are. */
  readonly isComplete: boolean;
  readonly checkpointSize: number;
  /** Base64. */
  readonly checkpointRoot: string;
  /** Verifier keys whose signatures all of this rests on: those on the checkpoint, and those on the anchor that are others. */
  readonly keys: readonly string[];
  /** Whether these keys were given to the verifier, and not taken from the bundle itself. */
  readonly isKeyPinned: boolean;
  readonly anchor: { readonly origin: string; readonly leafIndex: number; readonly at: string };
  /** How the checkpoint that the auditor holds fits this one. */
  readonly heldCheckpoint: "none" | "same" | "consistent";
  /** What is worth knowing and breaks nothing. */
  readonly notes: readonly string[];
}

export type Verdict =
  | { readonly kind: "valid"; readonly facts: EvidenceFacts }
  | { readonly kind: "invalid"; readonly finding: Finding }
  /** Something was asked that cannot be answered: what the auditor gave cannot be read, or more is needed. */
  | { readonly kind: "undecided"; readonly detail: string };
