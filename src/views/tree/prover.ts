/** Hashes of one tenant's tree at one size, from its tiles in the view; and inclusion proofs of many leaves, in one walk over them. */
import {
  HASH_BYTES,
  type Hash,
  inclusionNodes,
  nodeHash,
  nodesOf,
  rootNode,
  type SubtreeHash,
  sameHash,
} from "../../proof/rfc6962.ts";
import {
  subtreeHashFrom,
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  type TileLevels,
  tileLevels,
  tileName,
  tilesAbove,
} from "../../proof/tlog-tiles.ts";
import { rowInteger, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import { TREE_TILES } from "./tables.ts";

type Views = Pick<ViewStore, "load">;

export interface LoadedTree {
  /** Of subtrees on the way from the asked leaves to the root, and of their siblings. */
  readonly hashOf: SubtreeHash;
  /** Tiles that were not loaded for the leaves before. */
  readonly added: readonly Tile[];
}

/** Loads what roots and proofs about these leaves need; undefined if the view does not have it. Each tile is loaded and hashed once. */
export const createTree = (views: Views, tenant: string, size: number) => {
  let tiles: ReadonlyMap<string, TileLevels> = new Map();
  const hashOf = subtreeHashFrom((name) => tiles.get(name));
  return async (leaves: readonly number[]): Promise<LoadedTree | undefined> => {
    const needed = tilesAbove(leaves, size);
    const added = [...needed].filter(([name]) => !tiles.has(name)).map(([, tile]) => tile);
    const rows = await views.load(
      TREE_TILES,
      added.map(({ level, index }) => ({ tenant, level, tile: index })),
    );
    const loaded = new Map([...tiles].filter(([name]) => needed.has(name)));
    for (const row of rows) {
      const name = tileName({ level: rowInteger(row, "level"), index: rowInteger(row, "tile") });
      const bytes = Buffer.from(rowText(row, "hashes"), "base64");
      const length = (needed.get(name)?.width ?? 0) * HASH_BYTES;
      if (bytes.length >= length) loaded.set(name, tileLevels(bytes.subarray(0, length)));
    }
    tiles = loaded;
    return tiles.size === needed.size ? { hashOf, added } : undefined;
  };
};

export interface LoadedLeaves {
  leaf(index: number): Hash;
  /** RFC 9162 §2.1.3.1, the leaf's sibling first. */
  proof(index: number): readonly Hash[];
}

/** What is loaded is compared with the signed root, so each proof that comes out of it verifies. Undefined if it differs. */
export const createProver = (
  views: Views,
  tenant: string,
  { size, root }: { readonly size: number; readonly root: Hash },
) => {
  const load = createTree(views, tenant, size);
  return async (leaves: readonly number[]): Promise<LoadedLeaves | undefined> => {
    const tree = await load(leaves);
    if (tree === undefined) return undefined;
    const { hashOf, added } = tree;
    const nodeAt = nodesOf(size, hashOf);
    /** A full tile is one hash of the tile above; the others make up the root. */
    const isSigned = ({ level, index, width }: Tile): boolean => {
      if (width < TILE_WIDTH) return true;
      const above = (level + 1) * TILE_HEIGHT;
      const [left, right] = [2 * index, 2 * index + 1].map((at) => ({ level: above - 1, index: at }));
      if (!left || !right) return false;
      return sameHash(nodeHash(hashOf(left), hashOf(right)), hashOf({ level: above, index }));
    };
    if (!sameHash(nodeAt(rootNode(size)), root) || !added.every(isSigned)) return undefined;
    return {
      leaf: (index) => hashOf({ level: 0, index }),
      proof: (index) => inclusionNodes(index, size).map(nodeAt),
    };
  };
};
