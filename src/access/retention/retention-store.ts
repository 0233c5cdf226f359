/** The port to policies and holds. A read gives what is stored at that moment, so a hold counts at once. */
import type { HoldRecord, PolicyRecord } from "./records.ts";

export interface RetentionStore {
  read(): Promise<ReadRetention>;
  /** Writes only if the stored revision is still this one; 0 for none. */
  putPolicy(record: PolicyRecord, revision: number): Promise<RetentionWrite>;
  createHold(record: HoldRecord): Promise<RetentionWrite>;
  /** Writes only if the stored revision is still this one. */
  updateHold(record: HoldRecord, revision: number): Promise<RetentionWrite>;
}

/** No answer: what was asked may or may not have been done. */
export interface RetentionUnavailable {
  readonly kind: "unavailable";
  readonly detail: string;
}

export type ReadRetention =
  | { readonly kind: "read"; readonly stored: StoredRetention }
  | RetentionUnavailable;

export type RetentionWrite =
  | { readonly kind: "written" }
  /** Somebody else wrote first; nothing was changed. */
  | { readonly kind: "conflict" }
  | RetentionUnavailable;

export interface StoredHold {
  readonly record: HoldRecord;
  readonly revision: number;
}

export interface StoredRetention {
  readonly policies: readonly PolicyRecord[];
  /** Revision of each tenant's policy, also of a value that somebody else wrote, which is not in `policies`. */
  readonly policyRevisions: ReadonlyMap<string, number>;
  /** Holds of all tenants, released ones included, in no particular order. */
  readonly holds: readonly StoredHold[];
}
