/**
 * The view `tree`: one Merkle tree per tenant (RFC 6962 §2.1) over the payloads of its records, byte for byte, in the order of the log. Every message
 * on a tenant's subjects is a leaf, understood or not, including repeated events: the tree proves what the log contains, not what it means.
 */
import { HASH_BYTES, leafHash, perfectRoot } from "../../proof/rfc6962.ts";
import { TILE_BYTES, TILE_WIDTH, type Tile } from "../../proof/tlog-tiles.ts";
import { OPERATOR } from "../kit/all-tenants.ts";
import type { EntryProjection, Evolution, LogEntry, StateKey, States } from "../kit/projection.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { TREE_LEAVES, TREE_TILES, TREE_VIEW, TREES } from "./tables.ts";

const treeKey = (tenant: string): StateKey => ({ table: TREES, key: { tenant: OPERATOR, owner: tenant } });

const leavesKey = (tenant: string, tile: number): StateKey => ({ table: TREE_LEAVES, key: { tenant, tile } });

const tileKey = (tenant: string, { level, index }: TilePlace): StateKey => ({
  table: TREE_TILES,
  key: { tenant, level, tile: index },
});

const stateKeys = (entries: readonly LogEntry[]): readonly StateKey[] =>
  [...new Set(entries.map(({ tenant }) => tenant))].map(treeKey);

/** The incomplete tiles at the right edge: the next leaf changes them. Named once per batch, because what the batch itself adds is known. */
const furtherKeys = (states: States, { tenant }: LogEntry): readonly StateKey[] => {
  const size = sizeOf(states.get(TREES, treeKey(tenant).key));
  let [level, hashes] = [0, size];
  for (; hashes > 0 && hashes % TILE_WIDTH === 0; level++) hashes /= TILE_WIDTH;
  const first = tileKey(tenant, { level, index: Math.floor(hashes / TILE_WIDTH) });
  if (size === 0 || states.isNamed(first.table, first.key)) return NONE;
  const edge = edgeOf(size).map((place) => tileKey(tenant, place));
  return size % TILE_WIDTH === 0 ? edge : [leavesKey(tenant, Math.floor(size / TILE_WIDTH)), ...edge];
};

const NONE: readonly StateKey[] = [];

const sizeOf = (row: Row | undefined): number => (row ? rowInteger(row, "size") : 0);

type TilePlace = Pick<Tile, "level" | "index">;

/** Incomplete tiles, from the leaves upwards. */
const edgeOf = (size: number): readonly TilePlace[] => {
  const places: TilePlace[] = [];
  let hashes = size;
  for (let level = 0; hashes > 0; level++) {
    if (hashes % TILE_WIDTH > 0) places.push({ level, index: Math.floor(hashes / TILE_WIDTH) });
    hashes = Math.floor(hashes / TILE_WIDTH);
  }
  return places;
};

const evolve = (states: States, entries: readonly LogEntry[]): Evolution => ({
  writes: [...Map.groupBy(entries, ({ tenant }) => tenant)].flatMap(([tenant, own]) => {
    const tree = growingTree(states, tenant);
    for (const { sequence, payload } of own) tree.append(sequence, payload);
    return tree.writes();
  }),
});

const growingTree = (states: States, tenant: string) => {
  const before = states.get(TREES, treeKey(tenant).key);
  let size = sizeOf(before);
  let lastSequence = before ? rowInteger(before, "last_sequence") : 0;
  const tiles = new Map<number, GrowingTile>();
  const changed: Write[] = [];
  for (const place of edgeOf(size))
    tiles.set(place.level, growingTile(place.index, states.get(TREE_TILES, tileKey(tenant, place).key)));
  let leaves =
    size % TILE_WIDTH === 0
      ? newLeaves(0)
      : storedLeaves(states.get(TREE_LEAVES, leavesKey(tenant, Math.floor(size / TILE_WIDTH)).key));

  const leavesWrite = (tile: number): Write => {
    const { firstSequence, steps } = leaves;
    const row = { tenant, tile, first_sequence: firstSequence, steps: JSON.stringify(steps) };
    return { kind: "upsert", table: TREE_LEAVES, row };
  };
  const tileWrite = (level: number, tile: GrowingTile): Write => {
    const row = { tenant, level, tile: tile.index, hashes: hashesText(tile) };
    return { kind: "upsert", table: TREE_TILES, row };
  };
  const push = (level: number, hash: Uint8Array, place: number): void => {
    let tile = tiles.get(level);
    if (tile === undefined) {
      tile = growingTile(Math.floor(place / TILE_WIDTH), undefined);
      tiles.set(level, tile);
    }
    tile.bytes.set(hash, tile.width * HASH_BYTES);
    tile.width++;
    tile.isChanged = true;
    if (tile.width < TILE_WIDTH) return;
    changed.push(tileWrite(level, tile));
    tiles.delete(level);
    push(level + 1, perfectRoot(tile.bytes), tile.index);
  };
  return {
    append: (sequence: number, payload: Uint8Array): void => {
      // A record that is taken again, because another view could not take it the first time, already has its leaf.
      if (sequence <= lastSequence) return;
      if (size % TILE_WIDTH === 0) leaves = newLeaves(sequence);
      leaves.steps.push(sequence - leaves.last);
      leaves.last = sequence;
      push(0, leafHash(payload), size);
      size++;
      lastSequence = sequence;
      if (size % TILE_WIDTH === 0) changed.push(leavesWrite(size / TILE_WIDTH - 1));
    },
    writes: (): readonly Write[] => [
      ...changed,
      ...[...tiles].flatMap(([level, tile]) => (tile.isChanged ? [tileWrite(level, tile)] : [])),
      ...(size % TILE_WIDTH === 0 ? [] : [leavesWrite(Math.floor(size / TILE_WIDTH))]),
      {
        kind: "upsert",
        table: TREES,
        row: { tenant: OPERATOR, owner: tenant, size, last_sequence: lastSequence },
      },
    ],
  };
};

interface GrowingTile {
  readonly index: number;
  readonly bytes: Uint8Array;
  width: number;
  isChanged: boolean;
}

const growingTile = (index: number, row: Row | undefined): GrowingTile => {
  const bytes = new Uint8Array(TILE_BYTES);
  const stored = row ? Buffer.from(rowText(row, "hashes"), "base64") : undefined;
  if (stored) bytes.set(stored);
  return { index, bytes, width: (stored?.length ?? 0) / HASH_BYTES, isChanged: false };
};

const hashesText = ({ bytes, width }: GrowingTile): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, width * HASH_BYTES).toString("base64");

interface Leaves {
  readonly firstSequence: number;
  readonly steps: number[];
  last: number;
}

const newLeaves = (firstSequence: number): Leaves => ({ firstSequence, steps: [], last: firstSequence });

const storedLeaves = (row: Row | undefined): Leaves => {
  if (row === undefined) throw new Error("an unfinished tile has its leaves");
  const firstSequence = rowInteger(row, "first_sequence");
  const steps: number[] = JSON.parse(rowText(row, "steps"));
  return { firstSequence, steps, last: steps.reduce((sum, step) => sum + step, firstSequence) };
};

export const treeProjection: EntryProjection = {
  name: TREE_VIEW,
  takes: "entries",
  version: 1,
  tables: [TREES, TREE_TILES, TREE_LEAVES],
  stateKeys,
  furtherKeys,
  evolve,
};
