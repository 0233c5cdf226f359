/**
 * One tenant's tree, rebuilt from its records and compared with what was signed and with what the view keeps. It shares no code with the view
 * except the hashes of RFC 6962, so that a fault there is not repeated here.
 */
import {
  type CompactRange,
  createCompactRange,
  HASH_BYTES,
  type Hash,
  leafHash,
  nodeHash,
  sameHash,
} from "./rfc6962.ts";
import { TILE_BYTES, TILE_WIDTH, type Tile } from "./tlog-tiles.ts";

/** A full tile as the records make it. */
export interface MadeTile extends Pick<Tile, "level" | "index"> {
  readonly bytes: Uint8Array;
  /** The sequence of the last record under it: a view that has seen that record has the tile. */
  readonly lastSequence: number;
}

export interface ReadLeaf {
  readonly index: number;
  readonly hash: Hash;
  readonly sequence: number;
}

export interface SignedHead {
  readonly size: number;
  readonly root: Hash;
}

export type HeadCheck =
  | { readonly kind: "agrees" }
  /** The records of today give another root. `agreedSize`: the largest signed size at which they gave the right one. */
  | {
      readonly kind: "differs";
      readonly size: number;
      readonly agreedSize: number;
      /** The last of the leaves in between, computed from the records. */
      readonly leaves: readonly ReadLeaf[];
    }
  /** The log was not read that far. `leaves`: all leaves behind the last signed size. */
  | { readonly kind: "ahead"; readonly leaves: readonly ReadLeaf[] }
  /** The tree has grown past this head: it was checked before, or its records were skipped. */
  | { readonly kind: "passed" };

export interface RecomputedTree {
  /** Leaves that were read, signed or not. */
  size(): number;
  /** Leaves that are held until a head comes. */
  unsigned(): number;
  append(sequence: number, payload: Uint8Array): void;
  /** Heads must be checked in the order of their sizes. */
  check(head: SignedHead): HeadCheck;
  /** Takes the older half of the held leaves, as if a head had come for them. */
  passOlder(): void;
  /** Tiles that became full since the last call. */
  takeTiles(): readonly MadeTile[];
}

export const createRecomputedTree = (): RecomputedTree => {
  const signed: CompactRange = createCompactRange();
  let unsigned: ReadLeaf[] = [];
  let agreedSize = 0;
  const tiles = createTileMaking();

  const take = (count: number): readonly ReadLeaf[] => {
    const taken = unsigned.slice(0, count);
    for (const { hash } of taken) signed.append(hash);
    unsigned = unsigned.slice(count);
    return taken;
  };
  return {
    size: () => signed.size() + unsigned.length,
    unsigned: () => unsigned.length,
    append: (sequence, payload) => {
      const hash = leafHash(payload);
      unsigned.push({ index: signed.size() + unsigned.length, hash, sequence });
      tiles.push(0, hash, sequence);
    },
    check: ({ size, root }) => {
      if (size < signed.size()) return { kind: "passed" };
      if (size > signed.size() + unsigned.length) return { kind: "ahead", leaves: unsigned };
      const leaves = take(size - signed.size());
      if (!sameHash(signed.root(), root)) return { kind: "differs", size, agreedSize, leaves };
      agreedSize = size;
      return { kind: "agrees" };
    },
    passOlder: () => void take(Math.ceil(unsigned.length / 2)),
    takeTiles: tiles.taken,
  };
};

const createTileMaking = () => {
  const levels: Hash[][] = [];
  const counts: number[] = [];
  let made: MadeTile[] = [];
  const push = (level: number, hash: Hash, lastSequence: number): void => {
    const hashes = levels[level] ?? [];
    levels[level] = hashes;
    hashes.push(hash);
    if (hashes.length < TILE_WIDTH) return;
    const bytes = new Uint8Array(TILE_BYTES);
    for (const [place, each] of hashes.entries()) bytes.set(each, place * HASH_BYTES);
    const index = counts[level] ?? 0;
    counts[level] = index + 1;
    levels[level] = [];
    made.push({ level, index, bytes, lastSequence });
    push(level + 1, rootOfAll(hashes), lastSequence);
  };
  return {
    push,
    taken: (): readonly MadeTile[] => {
      const taken = made;
      made = [];
      return taken;
    },
  };
};

/** The number of hashes must be a power of two. */
const rootOfAll = (hashes: readonly Hash[]): Hash => {
  const [first, second] = hashes;
  if (first === undefined) throw new RangeError("a tile has hashes");
  if (second === undefined) return first;
  const middle = hashes.length / 2;
  return nodeHash(rootOfAll(hashes.slice(0, middle)), rootOfAll(hashes.slice(middle)));
};
