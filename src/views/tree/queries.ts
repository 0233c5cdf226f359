/** The queries of the view `tree`: roots, proofs and tiles of one tenant's tree, at any size it has had. */
import {
  consistencyProof,
  HASH_BYTES,
  type Hash,
  inclusionProof,
  rootOf,
  type SubtreeHash,
} from "../../proof/rfc6962.ts";
import {
  subtreeHashFrom,
  TILE_WIDTH,
  type Tile,
  type TileLookup,
  tilesForConsistency,
  tilesForInclusion,
  tilesForRoot,
} from "../../proof/tlog-tiles.ts";
import type { GrownTree, TreeSource } from "../../proof/tree-source.ts";
import { OPERATOR } from "../kit/operator.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import { tenantList } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
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
export const rootAt = (views: Views, tenant: string, size: number): Promise<Hash | undefined> =>
  withTiles(views, tenant, tilesForRoot(size), (hashOf) => rootOf(size, hashOf));

export const inclusionAt = (
  views: Views,
  tenant: string,
  { index, size }: { readonly index: number; readonly size: number },
): Promise<readonly Hash[] | undefined> =>
  withTiles(views, tenant, tilesForInclusion(index, size), (hashOf) => inclusionProof(index, size, hashOf));

export const consistencyBetween = (
  views: Views,
  tenant: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly Hash[] | undefined> =>
  withTiles(views, tenant, tilesForConsistency(from, to), (hashOf) => consistencyProof(from, to, hashOf));

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

/** The index of the record's leaf; undefined if it is none of the tenant's. */
export const leafIndexOf = async (
  views: Views,
  tenant: string,
  sequence: number,
): Promise<number | undefined> => {
  const [leafIndex] = await leafIndexesOf(views, tenant, [sequence]);
  return leafIndex;
};

/** The same for many, in the order of the log. Records near each other are looked up once. */
export const leafIndexesOf = async (
  views: Views,
  tenant: string,
  sequences: readonly number[],
): Promise<readonly (number | undefined)[]> => {
  let leaves: LeafTile | undefined;
  const indexes: (number | undefined)[] = [];
  for (const sequence of sequences) {
    if (leaves === undefined || sequence > (leaves.sequences.at(-1) ?? 0))
      leaves = await leavesAround(views, tenant, sequence);
    const place = leaves?.places.get(sequence);
    indexes.push(leaves && place !== undefined ? leaves.tile * TILE_WIDTH + place : undefined);
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
  readonly places: ReadonlyMap<number, number>;
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
  const sequences = sequencesIn(row);
  const places = new Map(sequences.map((each, place) => [each, place]));
  return { tile: rowInteger(row, "tile"), sequences, places };
};

const sequencesIn = (row: Row): readonly number[] => {
  const steps: readonly number[] = JSON.parse(rowText(row, "steps"));
  let at = rowInteger(row, "first_sequence");
  return steps.map((step) => {
    at += step;
    return at;
  });
};

/** The sequences of the first `size` leaves; undefined if the view does not have that many. */
export const leafSequences = async (
  views: Views,
  tenant: string,
  size: number,
): Promise<readonly number[] | undefined> => {
  const sequences: number[] = [];
  for (let tile = 0; sequences.length < size; tile++) {
    const [row] = await views.load(TREE_LEAVES, [{ tenant, tile }]);
    if (row === undefined) return undefined;
    sequences.push(...sequencesIn(row));
    if (sequences.length < size && sequences.length % TILE_WIDTH > 0) return undefined;
  }
  return sequences.slice(0, size);
};

const withTiles = async <Result>(
  views: Views,
  tenant: string,
  needs: readonly Tile[],
  work: (hashOf: SubtreeHash) => Result,
): Promise<Result | undefined> => {
  const rows = await views.load(
    TREE_TILES,
    needs.map(({ level, index }) => ({ tenant, level, tile: index })),
  );
  const tiles = new Map(
    rows.map((row) => [
      placeText({ level: rowInteger(row, "level"), index: rowInteger(row, "tile") }),
      Buffer.from(rowText(row, "hashes"), "base64"),
    ]),
  );
  const lookUp: TileLookup = (tile) => tiles.get(placeText(tile));
  const isWhole = needs.every((tile) => (lookUp(tile)?.length ?? 0) >= tile.width * HASH_BYTES);
  return isWhole ? work(subtreeHashFrom(lookUp)) : undefined;
};

const placeText = ({ level, index }: Pick<Tile, "level" | "index">): string => `${level}/${index}`;
