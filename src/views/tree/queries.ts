/** The queries of the view `tree`: roots, proofs and tiles of one tenant's tree, at any size it has had. */
import type { GrownTree, TreeSource } from "../../proof/ports.ts";
import { consistencyProof, HASH_BYTES, type Hash, inclusionProof, rootOf } from "../../proof/rfc6962.ts";
import { TILE_WIDTH, type Tile } from "../../proof/tlog-tiles.ts";
import { OPERATOR } from "../kit/all-tenants.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import { tenantList } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import { createTree } from "./prover.ts";
import { TREE_LEAVES, TREE_TILES, TREE_VIEW, TREES } from "./tables.ts";

type Views = Pick<ViewStore, "load" | "select">;

export const treeSource = (views: Views & Pick<ViewStore, "position">): TreeSource => ({
  grown: (after, treesMax) => grownTrees(views, after, treesMax),
  root: (tenant, size) => rootAt(views, tenant, size),
  tile: (tenant, tile) => tileAt(views, tenant, tile),
  position: () => views.position(TREE_VIEW),
});

const grownTrees = async (views: Views, after: number, treesMax: number): Promise<readonly GrownTree[]> => {
  const rows = await views.select(
    tenantList({
      tenant: OPERATOR,
      table: TREES,
      columns: ["owner", "size", "last_sequence"],
      where: [{ kind: "range", column: "last_sequence", from: after + 1 }],
      orderBy: ["last_sequence", "owner"],
      order: "asc",
      rowsMax: treesMax,
    }),
  );
  return rows.map((row) => ({
    tenant: rowText(row, "owner"),
    size: rowInteger(row, "size"),
    lastSequence: rowInteger(row, "last_sequence"),
  }));
};

/** The number of leaves of the tenant's tree; 0 if there is none. */
export const treeSize = async (views: Views, tenant: string): Promise<number> => {
  const [row] = await views.load(TREES, [{ tenant: OPERATOR, owner: tenant }]);
  return row ? rowInteger(row, "size") : 0;
};

/** Undefined if the tiles do not contain that many leaves; the same is true of all functions below. */
export const rootAt = async (views: Views, tenant: string, size: number): Promise<Hash | undefined> => {
  const tree = await createTree(views, tenant, size)([]);
  return tree && rootOf(size, tree.hashOf);
};

export const inclusionAt = async (
  views: Views,
  tenant: string,
  { index, size }: { readonly index: number; readonly size: number },
): Promise<readonly Hash[] | undefined> => {
  const tree = await createTree(views, tenant, size)([index]);
  return tree && inclusionProof(index, size, tree.hashOf);
};

export const consistencyBetween = async (
  views: Views,
  tenant: string,
  { from, to }: { readonly from: number; readonly to: number },
) => {
  const tree = await createTree(views, tenant, to)(from === 0 ? [] : [from - 1]);
  if (tree === undefined) return undefined;
  const [fromRoot, toRoot] = [rootOf(from, tree.hashOf), rootOf(to, tree.hashOf)];
  return { fromRoot, toRoot, proof: consistencyProof(from, to, tree.hashOf) };
};

/** The first `width` hashes of one tile. */
export const tileAt = async (
  views: Pick<Views, "load">,
  tenant: string,
  { level, index, width }: Tile,
): Promise<Uint8Array | undefined> => {
  const [row] = await views.load(TREE_TILES, [{ tenant, level, tile: index }]);
  const bytes = row && Buffer.from(rowText(row, "hashes"), "base64");
  return bytes && bytes.length >= width * HASH_BYTES ? bytes.subarray(0, width * HASH_BYTES) : undefined;
};

/** The indexes of the records' leaves, which ascend; undefined for one that is none of the tenant's. */
export const leafIndexesOf = async (
  views: Views,
  tenant: string,
  sequences: readonly number[],
): Promise<readonly (number | undefined)[]> => {
  const indexes: (number | undefined)[] = [];
  let leaves: LeafTile | undefined;
  let place = 0;
  for (const sequence of sequences) {
    if (leaves === undefined || sequence > (leaves.sequences.at(-1) ?? 0)) {
      leaves = await leavesAround(views, tenant, sequence);
      place = 0;
    }
    while ((leaves?.sequences[place] ?? sequence) < sequence) place++;
    const isLeaf = leaves?.sequences[place] === sequence;
    indexes.push(leaves && isLeaf ? leaves.tile * TILE_WIDTH + place : undefined);
  }
  return indexes;
};

/** How many leaves are records up to this sequence. */
export const leavesUpTo = async (views: Views, tenant: string, sequence: number): Promise<number> => {
  const leaves = await leavesAround(views, tenant, sequence);
  if (leaves === undefined) return 0;
  return leaves.tile * TILE_WIDTH + leaves.sequences.filter((each) => each <= sequence).length;
};

interface LeafTile {
  readonly tile: number;
  readonly sequences: readonly number[];
}

/** The tile that contains the record, if it is a leaf. */
const leavesAround = async (
  views: Views,
  tenant: string,
  sequence: number,
): Promise<LeafTile | undefined> => {
  const [row] = await views.select(
    tenantList({
      tenant,
      table: TREE_LEAVES,
      columns: ["tile", "first_sequence", "steps"],
      where: [{ kind: "range", column: "first_sequence", to: sequence + 1 }],
      orderBy: ["first_sequence"],
      order: "desc",
      rowsMax: 1,
    }),
  );
  if (row === undefined) return undefined;
  return { tile: rowInteger(row, "tile"), sequences: sequencesIn(row) };
};

const sequencesIn = (row: Row): readonly number[] => {
  const steps: readonly number[] = JSON.parse(rowText(row, "steps"));
  let at = rowInteger(row, "first_sequence");
  return steps.map((step) => {
    at += step;
    return at;
  });
};

const LEAF_TILES_PER_READ = 64;

/** The sequences of the first `size` leaves; undefined if the view does not have that many. */
export const leafSequences = async (
  views: Pick<Views, "load">,
  tenant: string,
  size: number,
): Promise<readonly number[] | undefined> => {
  const sequences: number[] = [];
  for (let first = 0; sequences.length < size; first += LEAF_TILES_PER_READ) {
    const keys = Array.from({ length: LEAF_TILES_PER_READ }, (_, at) => ({ tenant, tile: first + at }));
    const rows = await views.load(TREE_LEAVES, keys);
    const tiles = rows.map((row) => ({ tile: rowInteger(row, "tile"), sequences: sequencesIn(row) }));
    for (const { tile, sequences: ofTile } of tiles.sort((one, other) => one.tile - other.tile)) {
      if (tile * TILE_WIDTH !== sequences.length) return undefined;
      sequences.push(...ofTile);
    }
    if (rows.length < keys.length) break;
  }
  return sequences.length < size ? undefined : sequences.slice(0, size);
};
