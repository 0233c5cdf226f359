/**
 * The ports of sealing and monitoring: trees, which the view `tree` implements; signed heads, in the stream CHECKPOINTS; and the copy of the
 * newest heads outside the log, in the folder HEADS_COPY.
 */
import type { Sequence } from "../log/outcome.ts";
import type { Hash } from "./rfc6962.ts";
import type { Tile } from "./tlog-tiles.ts";

export interface GrownTree {
  readonly tenant: string;
  readonly size: number;
  readonly lastSequence: number;
}

export interface TreeSource {
  /** Trees whose last leaf is behind a sequence of the log, in the order of their last leaves. */
  grown(after: number, treesMax: number): Promise<readonly GrownTree[]>;
  /** The root over the first `size` leaves; undefined if the tiles do not contain that many. */
  root(tenant: string, size: number): Promise<Hash | undefined>;
  /** The first `width` hashes of a tile; undefined if it does not contain that many. */
  tile(tenant: string, tile: Tile): Promise<Uint8Array | undefined>;
  /** How far into the log the trees reach. */
  position(): Promise<Sequence>;
}

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

/**
 * The end of the log as a copy outside it knows it, with the newest signed heads. A log that was restored from an older copy does not hold that
 * record: nothing is signed then, until an operator accepts the loss, and later heads say so (sealed-head.ts).
 */
export interface KnownEnd {
  readonly sequence: number;
  /** SHA-256 of the record there. */
  readonly record: string;
}

export interface KnownHead {
  /** The newest head; absent if it was given up, and the next one is not signed yet. */
  readonly note?: string;
  /** Lines that the next head must carry. Those of `note` count where there is one. */
  readonly extensions: readonly string[];
}

export interface KnownHeads {
  readonly end: KnownEnd | undefined;
  /** By tenant. */
  readonly heads: ReadonlyMap<string, KnownHead>;
}

/** The port of the folder HEADS_COPY, for the sealer. */
export interface HeadsCopy {
  /** Rejects if the copy cannot be read: then nothing is signed. */
  read(): Promise<KnownHeads>;
  /** Why the log does not hold what the copy knows; undefined if it does. */
  problem(): Promise<string | undefined>;
  /** Resolves once the notes are on disk. `lastSequence`: a record of the log that is not before the last leaf of any of them. */
  keep(notes: ReadonlyMap<string, string>, lastSequence: number): Promise<void>;
}
