/** C2SP tlog-tiles: the hashes of a tree stored as tiles of 256, each as bytes; their names, and which of them are needed for what. */
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

/** `<L>/<N>[.p/<W>]`, what stands behind `tile/` in the URL, with the number in groups of three digits: 1234067 is x001/x234/067. */
export const formatTilePath = ({ level, index, width }: Tile): string => {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, "0");
  const groups = padded.replace(/\d{3}(?=\d)/g, "x$&/");
  return `${level}/${groups}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
};

const PATH = /^(\d{1,2})\/((?:x\d{3}\/)*\d{3})(?:\.p\/(\d{1,3}))?$/;

/** Undefined if it is not the path of a tile, or not in its one canonical form. */
export const parseTilePath = (path: string): Tile | undefined => {
  const [, levelText = "", groups = "", widthText] = PATH.exec(path) ?? [];
  const level = Number(levelText);
  const index = Number(groups.replace(/[x/]/g, ""));
  const width = widthText === undefined ? TILE_WIDTH : Number(widthText);
  if (level > TILE_LEVEL_MAX || !Number.isSafeInteger(index) || width < 1 || width > TILE_WIDTH)
    return undefined;
  const tile = { level, index, width };
  return formatTilePath(tile) === path ? tile : undefined;
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
