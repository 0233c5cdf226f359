/**
 * C2SP tlog-tiles: the hashes of a tree stored as tiles of 256, the names of tiles, and which tiles are needed for what. A tile is bytes: its hashes
 * one after the other. Where tiles are kept and how they are served is not decided here.
 */
import {
  consistencySubtrees,
  HASH_BYTES,
  inclusionSubtrees,
  perfectRoot,
  type Subtree,
  type SubtreeHash,
  subtreesOf,
} from "./rfc6962.ts";

/** Levels of the tree in one tile. */
export const TILE_HEIGHT = 8;
/** Hashes in a full tile. */
export const TILE_WIDTH = 256;
export const TILE_BYTES = TILE_WIDTH * HASH_BYTES;
/** tlog-tiles, Merkle Tree: a level is between 0 and 63. */
const TILE_LEVEL_MAX = 63;

/** The hashes of subtrees of 256^level leaves, from number index * 256 on. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  /** 256, or less in a partial tile. */
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

/** Where the hash of a subtree comes from: it is the root of `count` hashes of one tile, starting with number `first`. */
export interface TileSlice {
  readonly level: number;
  readonly index: number;
  readonly first: number;
  /** A power of two, at most 128: a subtree as wide as a tile is one hash of the level above. */
  readonly count: number;
}

export const tileOf = (subtree: Subtree): TileSlice => {
  const level = Math.floor(subtree.level / TILE_HEIGHT);
  const count = 2 ** (subtree.level % TILE_HEIGHT);
  const slicesPerTile = TILE_WIDTH / count;
  return {
    level,
    index: Math.floor(subtree.index / slicesPerTile),
    first: (subtree.index % slicesPerTile) * count,
    count,
  };
};

/** How many hashes the tile has in a tree of `size` leaves; 0 if there is no such tile. tlog-tiles, Partial Tiles. */
export const tileWidth = ({ level, index }: Omit<Tile, "width">, size: number): number => {
  const hashesInLevel = Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, hashesInLevel - index * TILE_WIDTH));
};

/**
 * The tiles that rootOf, inclusionProof and consistencyProof read, each once, lowest level first. `width` is the width of the tile in a tree of that
 * size, from which its path follows. A tile that has grown since works as well.
 */
export const tilesForRoot = (size: number): readonly Tile[] => tilesFor(subtreesOf(size), size);

export const tilesForInclusion = (index: number, size: number): readonly Tile[] =>
  tilesFor(inclusionSubtrees(index, size).flat(), size);

export const tilesForConsistency = (from: number, to: number): readonly Tile[] =>
  tilesFor(consistencySubtrees(from, to).flat(), to);

const tilesFor = (subtrees: readonly Subtree[], size: number): readonly Tile[] => {
  const tiles = new Map<string, Tile>();
  for (const { level, index } of subtrees.map(tileOf))
    tiles.set(`${level}/${index}`, { level, index, width: tileWidth({ level, index }, size) });
  return [...tiles.values()].sort((a, b) => a.level - b.level || a.index - b.index);
};

/** The bytes of a loaded tile; undefined if it is not loaded. */
export type TileLookup = (tile: Omit<Tile, "width">) => Uint8Array | undefined;

/** Hashes of subtrees from loaded tiles. Throws if the tiles do not contain a requested hash. */
export const subtreeHashFrom =
  (tiles: TileLookup): SubtreeHash =>
  (subtree) => {
    const { level, index, first, count } = tileOf(subtree);
    const bytes = tiles({ level, index });
    const end = (first + count) * HASH_BYTES;
    if (bytes === undefined || bytes.length < end)
      throw new RangeError(`tile ${formatTilePath({ level, index, width: first + count })} is not loaded`);
    return perfectRoot(bytes.subarray(first * HASH_BYTES, end));
  };
