/**
 * What a copy outside the log knows of it: the newest signed heads, and the record at the end that they cover. A log that was restored from an
 * older copy does not hold that record. Nothing is signed then, until an operator accepts the loss, and later heads say so (sealed-head.ts).
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
