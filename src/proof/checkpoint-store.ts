/** Where signed tree heads are kept and given to witnesses: the port that the stream CHECKPOINTS implements. */

export interface StoredCheckpoint {
  /** A signed note (C2SP tlog-checkpoint). */
  readonly note: string;
  /** Its position among the checkpoints of all tenants; 0 if there is none. */
  readonly revision: number;
}

/** Throws LogUnavailableError if the broker does not answer. */
export interface CheckpointStore {
  last(tenant: string): Promise<StoredCheckpoint | undefined>;
  /**
   * Adds a checkpoint. `after`: the revision of the checkpoint that this one extends, 0 for the first. Returns false and writes nothing if another
   * checkpoint of the tenant came first.
   */
  write(tenant: string, note: string, after: number): Promise<boolean>;
  /** Public keys, 32 bytes each, that have ever signed here. */
  publicKeys(): Promise<readonly Uint8Array[]>;
  /** Returns false and does nothing if there is any key already: of several callers at once, one is first. */
  addFirstPublicKey(key: Uint8Array): Promise<boolean>;
  addPublicKey(key: Uint8Array): Promise<void>;
  /** Checkpoints of all tenants behind a revision, in the order in which they were written, up to the newest one now. */
  since(revision: number): AsyncIterable<StoredCheckpoint & { readonly tenant: string }>;
}
