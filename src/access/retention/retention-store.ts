/** The port to policies and holds. */
import type { ActionResult } from "../action.ts";
import type { HoldRecord, PolicyRecord } from "./records.ts";

export interface RetentionStore {
  /** What is stored at this moment, so that a hold counts at once. Throws LogUnavailableError. */
  read(): Promise<StoredRetention>;
  /** Writes only if the stored revision is still this one; 0 for none. */
  putPolicy(record: PolicyRecord, revision: number): Promise<ActionResult>;
  createHold(record: HoldRecord): Promise<ActionResult>;
  /** Writes only if the stored revision is still this one. */
  updateHold(record: HoldRecord, revision: number): Promise<ActionResult>;
}

export interface StoredRetention {
  readonly policies: readonly PolicyRecord[];
  /** Revision of each tenant's policy, even of a foreign value, which is not in `policies`. */
  readonly policyRevisions: ReadonlyMap<string, number>;
  /** Holds of all tenants, released ones included, in no particular order. */
  readonly holds: readonly { readonly record: HoldRecord; readonly revision: number }[];
}
