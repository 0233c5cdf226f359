/** Inclusion proofs of many records of one tenant under one tree head. What neighbours have in common is loaded and hashed once. */
import { HASH_BYTES, type Hash, inclusionProof, nodeHash, type Subtree } from "../../proof/rfc6962.ts";
import { TILE_HEIGHT, TILE_WIDTH, tilesForInclusion } from "../../proof/tlog-tiles.ts";
import { PROVER_HASHES_MAX } from "../kit/limits.ts";
import type { ViewStore } from "../store/view-store.ts";
import { tileAt } from "./queries.ts";

export interface Prover {
  /** Undefined if the view does not have the tiles. */
  prove(leafIndex: number): Promise<readonly Hash[] | undefined>;
}

export const createProver = (views: Pick<ViewStore, "load">, tenant: string, size: number): Prover => {
  const tiles = new Map<string, Uint8Array>();
  const hashes = new Map<string, Hash>();

  const load = async (level: number, index: number, width: number): Promise<boolean> => {
    const name = `${level}/${index}`;
    // For one size of the tree, so a tile has one width.
    const bytes = tiles.get(name) ?? (await tileAt(views, tenant, { level, index, width }));
    if (bytes === undefined) return false;
    tiles.set(name, bytes);
    return true;
  };
  const hashOf = (subtree: Subtree): Hash => {
    const { level, index } = subtree;
    const name = `${level}/${index}`;
    const known = hashes.get(name);
    if (known) return known;
    const hash =
      level % TILE_HEIGHT === 0
        ? hashInTile(level / TILE_HEIGHT, index)
        : nodeHash(
            hashOf({ level: level - 1, index: 2 * index }),
            hashOf({ level: level - 1, index: 2 * index + 1 }),
          );
    hashes.set(name, hash);
    return hash;
  };
  const hashInTile = (tileLevel: number, index: number): Hash => {
    const tile = tiles.get(`${tileLevel}/${Math.floor(index / TILE_WIDTH)}`);
    const from = (index % TILE_WIDTH) * HASH_BYTES;
    if (tile === undefined) throw new Error("the tiles of a proof are loaded before it is made");
    return tile.slice(from, from + HASH_BYTES);
  };

  return {
    prove: async (leafIndex) => {
      if (hashes.size + tiles.size * TILE_WIDTH > PROVER_HASHES_MAX) {
        hashes.clear();
        tiles.clear();
      }
      for (const { level, index, width } of tilesForInclusion(leafIndex, size))
        if (!(await load(level, index, width))) return undefined;
      return inclusionProof(leafIndex, size, hashOf);
    },
  };
};
