/**
 * C2SP tlog-tiles: the hashes of a tree stored as tiles of 256, the names of tiles, and which tiles are needed for what. A tile is bytes: its hashes
 * one after the other. Where tiles are kept and how they are served is not decided here.
 */
import { HASH_BYTES, levelAbove, type SubtreeHash } from "./rfc6962.ts";

/** Levels of the tree in one tile. */
export const TILE_HEIGHT = 8;
export const TILE_WIDTH = 256;
export const TILE_BYTES = TILE_WIDTH * HASH_BYTES;
/** tlog-tiles, Merkle Tree: a level is between 0 and 63. */
const TILE_LEVEL_MAX = 63;

/** The hashes of subtrees of 256^level leaves, from number index * 256 on. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

/** `<L>/<N>[.p/<W>]`, what stands behind `tile/` in the URL. */
export const formatTilePath = ({ level, index, width }: Tile): string => {
  if (!Number.isSafeInteger(level) || level < 0 || level > TILE_LEVEL_MAX)
    throw new RangeError(`no tile has level ${level}`);
  return `${level}/${formatTileNumber({ index, width })}`;
};

/** `<N>[.p/<W>]`: the name of a tile within its level, and of a bundle of entries. Groups of three digits: 1234067 is x001/x234/067. */
export const formatTileNumber = ({ index, width }: Omit<Tile, "level">): string => {
  if (!Number.isSafeInteger(index) || index < 0) throw new RangeError(`no tile has index ${index}`);
  if (!Number.isSafeInteger(width) || width < 1 || width > TILE_WIDTH)
    throw new RangeError(`no tile has width ${width}`);
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, "0");
  const groups = padded.replace(/\d{3}(?=\d)/g, "x$&/");
  return width === TILE_WIDTH ? groups : `${groups}.p/${width}`;
};

/** Undefined if it is not the path of a tile, or not in its one canonical form. */
export const parseTilePath = (path: string): Tile | undefined => {
  const [, level = "", rest = ""] = /^(0|[1-9]\d?)\/(.+)$/.exec(path) ?? [];
  if (level === "" || Number(level) > TILE_LEVEL_MAX) return undefined;
  const number = parseTileNumber(rest);
  return number && { level: Number(level), ...number };
};

export const parseTileNumber = (text: string): Omit<Tile, "level"> | undefined => {
  const [, groups = "", partial] = /^((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  // A leading group of zeros is not canonical.
  if (groups === "" || groups.startsWith("x000")) return undefined;
  const index = Number(groups.replace(/[x/]/g, ""));
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  // A full tile has no suffix.
  const isCanonical = partial === undefined || width < TILE_WIDTH;
  return Number.isSafeInteger(index) && isCanonical ? { index, width } : undefined;
};

/** How many hashes the tile has in a tree of `size` leaves; 0 if there is no such tile. tlog-tiles, Partial Tiles. */
export const tileWidth = ({ level, index }: Omit<Tile, "width">, size: number): number => {
  const hashesInLevel = Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, hashesInLevel - index * TILE_WIDTH));
};

/**
 * The tiles above these leaves and those at the right edge, by path: what the root and all proofs about the leaves are made of. `width` is that in a
 * tree of this size. A tile that has grown since works as well.
 */
export const tilesAbove = (leaves: readonly number[], size: number): ReadonlyMap<string, Tile> => {
  const tiles = new Map<string, Tile>();
  for (const leaf of size === 0 ? [] : [...leaves, size - 1])
    for (let [level, index] = [0, leaf]; TILE_WIDTH ** level <= size; level++) {
      index = Math.floor(index / TILE_WIDTH);
      const width = tileWidth({ level, index }, size);
      // The last leaves may have no complete subtree in this level.
      if (width > 0) tiles.set(tileName({ level, index }), { level, index, width });
    }
  return tiles;
};

export const tileName = ({ level, index }: Omit<Tile, "width">): string => `${level}/${index}`;

/** The hashes of a tile, and of the levels between it and the tile above, lowest first. */
export type TileLevels = readonly Uint8Array[];

export const tileLevels = (hashes: Uint8Array): TileLevels => {
  const levels = [hashes];
  for (let last = hashes; levels.length < TILE_HEIGHT; levels.push(last)) last = levelAbove(last);
  return levels;
};

/** Hashes of subtrees from loaded tiles, by name. Throws if the tiles do not contain a requested hash. */
export const subtreeHashFrom =
  (tiles: (name: string) => TileLevels | undefined): SubtreeHash =>
  ({ level, index }) => {
    const within = level % TILE_HEIGHT;
    const width = TILE_WIDTH / 2 ** within;
    const name = tileName({ level: (level - within) / TILE_HEIGHT, index: Math.floor(index / width) });
    const from = (index % width) * HASH_BYTES;
    const hash = tiles(name)?.[within]?.subarray(from, from + HASH_BYTES);
    if (hash?.length !== HASH_BYTES) throw new RangeError(`tile ${name} is not loaded as far as that`);
    return hash;
  };
