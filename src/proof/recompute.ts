/**
 * One tenant's tree, rebuilt from its records and compared with what was signed and with what the view keeps. It shares no code with the view
 * except the hashes of RFC 6962, so that a fault there is not repeated here.
 */
import { createCompactRange, HASH_BYTES, type Hash, leafHash, perfectRoot, sameHash } from "./rfc6962.ts";
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

export type HeadCheck =
  | { readonly kind: "agrees" }
  /** The records of today give another root. `agreedSize`: the largest signed size at which they gave the right one. */
  | {
      readonly kind: "differs";
      readonly agreedSize: number;
      /** The last of the leaves in between, computed from the records. */
      readonly leaves: readonly ReadLeaf[];
    }
  /** The log was not read that far. `leaves`: all leaves behind the last signed size. */
  | { readonly kind: "ahead"; readonly leaves: readonly ReadLeaf[] }
  /** The tree has grown past this head: it was checked before, or its records were skipped. */
  | { readonly kind: "passed" };

export const createRecomputedTree = () => {
  const signed = createCompactRange();
  let unsigned: ReadLeaf[] = [];
  let agreedSize = 0;
  const tiles: MadeTile[] = [];
  /** The tiles at the right edge, by level. */
  const growing: { bytes: Uint8Array; width: number; index: number }[] = [];

  const size = (): number => signed.size() + unsigned.length;
  const take = (count: number): readonly ReadLeaf[] => {
    const taken = unsigned.slice(0, count);
    for (const { hash } of taken) signed.append(hash);
    unsigned = unsigned.slice(count);
    return taken;
  };
  const push = (level: number, hash: Hash, lastSequence: number): void => {
    const tile = growing[level] ?? { bytes: new Uint8Array(TILE_BYTES), width: 0, index: 0 };
    growing[level] = tile;
    tile.bytes.set(hash, tile.width * HASH_BYTES);
    tile.width++;
    if (tile.width < TILE_WIDTH) return;
    const { bytes, index } = tile;
    tiles.push({ level, index, bytes, lastSequence });
    growing[level] = { bytes: new Uint8Array(TILE_BYTES), width: 0, index: index + 1 };
    push(level + 1, perfectRoot(bytes), lastSequence);
  };
  return {
    /** Leaves that were read, signed or not. */
    size,
    /** Leaves that are held until a head comes. */
    unsigned: () => unsigned.length,
    append: (sequence: number, payload: Uint8Array): void => {
      const hash = leafHash(payload);
      unsigned.push({ index: size(), hash, sequence });
      push(0, hash, sequence);
    },
    /** Heads must be checked in the order of their sizes. */
    check: (head: { readonly size: number; readonly root: Hash }): HeadCheck => {
      if (head.size < signed.size()) return { kind: "passed" };
      if (head.size > size()) return { kind: "ahead", leaves: unsigned };
      const leaves = take(head.size - signed.size());
      if (!sameHash(signed.root(), head.root)) return { kind: "differs", agreedSize, leaves };
      agreedSize = head.size;
      return { kind: "agrees" };
    },
    /** Takes the older half of the held leaves, as if a head had come for them. */
    passOlder: () => void take(Math.ceil(unsigned.length / 2)),
    /** Tiles that became full and were not compared yet, in order. */
    tiles,
  };
};
