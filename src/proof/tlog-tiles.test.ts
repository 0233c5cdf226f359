import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createNaiveTree } from "../../test/support/naive-tree.ts";
import {
  consistencyProof,
  createCompactRange,
  HASH_BYTES,
  inclusionProof,
  leafHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from "./rfc6962.ts";
import {
  formatTileNumber,
  formatTilePath,
  parseTileNumber,
  parseTilePath,
  subtreeHashFrom,
  TILE_BYTES,
  TILE_WIDTH,
  type Tile,
  tileLevels,
  tilesAbove,
  tileWidth,
} from "./tlog-tiles.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("paths of tiles", () => {
  test("the specification's example and the edge cases are written correctly", () => {
    const path = (level: number, index: number, width = TILE_WIDTH) =>
      formatTilePath({ level, index, width });
    expect(path(0, 1234067)).toBe("0/x001/x234/067");
    expect(path(0, 0)).toBe("0/000");
    expect(path(1, 999)).toBe("1/999");
    expect(path(1, 1000)).toBe("1/x001/000");
    expect(path(63, 273, 112)).toBe("63/273.p/112");
    expect(path(0, 1000, 255)).toBe("0/x001/000.p/255");
    expect(path(0, Number.MAX_SAFE_INTEGER)).toBe("0/x009/x007/x199/x254/x740/991");
    expect(formatTileNumber({ index: 5, width: 1 })).toBe("005.p/1");
    expect(parseTileNumber("005.p/1")).toEqual({ index: 5, width: 1 });
  });

  const tile = fc.record({
    level: fc.integer({ min: 0, max: 63 }),
    index: fc.oneof(
      fc.nat({ max: 2000 }),
      fc.nat({ max: 2_000_000 }),
      fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    ),
    width: fc.integer({ min: 1, max: 256 }),
  });

  test("each path is read back as the same tile", () => {
    fc.assert(fc.property(tile, (tile) => expect(parseTilePath(formatTilePath(tile))).toEqual(tile)));
  });

  test("a tile has only one path, and no other path is read", () => {
    const near = fc
      .tuple(tile, fc.nat(), fc.constantFrom("", "0", "x", "/", ".p/", "000", "x000/", " ", "\n", "1"))
      .map(([tile, at, inserted]) => {
        const path = formatTilePath(tile);
        const place = at % (path.length + 1);
        return path.slice(0, place) + inserted + path.slice(place);
      });
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (path) => {
        const parsed = parseTilePath(path);
        if (parsed !== undefined) expect(formatTilePath(parsed)).toBe(path);
      }),
      { numRuns: 5000 },
    );
  });
});

describe("the tiles of a tree", () => {
  const tilesOf = (size: number): Record<string, number> => {
    const widths: Record<string, number> = {};
    for (let level = 0; tileWidth({ level, index: 0 }, size) > 0; level++)
      for (let index = 0; ; index++) {
        const width = tileWidth({ level, index }, size);
        if (width === 0) break;
        const kind = `${level} ${width === TILE_WIDTH ? "full" : `of ${width}`}`;
        widths[kind] = (widths[kind] ?? 0) + 1;
      }
    return widths;
  };

  test("are as the specification counts them for 70,000 leaves and for 256", () => {
    expect(tilesOf(70_000)).toEqual({
      "0 full": 273,
      "0 of 112": 1,
      "1 full": 1,
      "1 of 17": 1,
      "2 of 1": 1,
    });
    expect(tilesOf(256)).toEqual({ "0 full": 1, "1 of 1": 1 });
    expect(tilesOf(0)).toEqual({});
  });

  test("have seven levels for nearly 2^53 leaves", () => {
    const size = Number.MAX_SAFE_INTEGER;
    expect(tileWidth({ level: 6, index: 0 }, size)).toBe(31);
    expect(tileWidth({ level: 7, index: 0 }, size)).toBe(0);
    expect(tileWidth({ level: 0, index: 2 ** 45 - 1 }, size)).toBe(255);
    expect([...tilesAbove([], size).values()].map(({ level, width }) => [level, width])).toEqual([
      [0, 255],
      [1, 255],
      [2, 255],
      [3, 255],
      [4, 255],
      [5, 255],
      [6, 31],
    ]);
  });
});

/**
 * 1. 200,000 leaves, which make three levels, are hashed and cut into tiles as the specification says: level by level, each hash being the root of a full tile below.
 * 2. The root, an inclusion proof and a consistency proof of random trees within them are made from tiles alone and compared with the definition.
 * 3. Only the tiles that were said to be needed can be read, at the widths that were said.
 */
describe("proofs from tiles, for trees of up to 200,000 leaves", () => {
  const LEAVES = 200_000;
  const encoder = new TextEncoder();
  const leafData = (index: number): Uint8Array => encoder.encode(String(index));
  const naive = createNaiveTree(leafData, { rememberedLeavesMin: 256 });

  const levels: readonly Uint8Array[] = (() => {
    const hashes = new Uint8Array(LEAVES * HASH_BYTES);
    for (let index = 0; index < LEAVES; index++) hashes.set(leafHash(leafData(index)), index * HASH_BYTES);
    const made = [hashes];
    for (let below = hashes; below.length >= TILE_BYTES; ) {
      const above = new Uint8Array(Math.floor(below.length / TILE_BYTES) * HASH_BYTES);
      for (let index = 0; index < above.length / HASH_BYTES; index++) {
        const tile = below.subarray(index * TILE_BYTES, (index + 1) * TILE_BYTES);
        const range = createCompactRange();
        for (let at = 0; at < TILE_BYTES; at += HASH_BYTES) range.append(tile.subarray(at, at + HASH_BYTES));
        above.set(range.root(), index * HASH_BYTES);
      }
      made.push(above);
      below = above;
    }
    return made;
  })();

  const load = ({ level, index, width }: Tile): Uint8Array => {
    const begin = index * TILE_BYTES;
    return levels[level]?.subarray(begin, begin + width * HASH_BYTES) ?? new Uint8Array();
  };
  const hashesFrom = (tiles: ReadonlyMap<string, Tile>) => {
    const loaded = new Map([...tiles].map(([name, tile]) => [name, tileLevels(load(tile))]));
    return subtreeHashFrom((name) => loaded.get(name));
  };

  test("the tiles follow the specification", () => {
    for (const [level, n, i] of [
      [0, 0, 0],
      [0, 781, 63],
      [1, 0, 0],
      [1, 3, 12],
      [2, 0, 2],
    ] as const) {
      const at = (n * TILE_WIDTH + i) * HASH_BYTES;
      const width = TILE_WIDTH ** level;
      expect(hex(levels[level]?.subarray(at, at + HASH_BYTES) ?? new Uint8Array())).toBe(
        hex(naive.mth((n * TILE_WIDTH + i) * width, (n * TILE_WIDTH + i + 1) * width)),
      );
    }
  });

  const size = fc.oneof(
    fc.integer({ min: 1, max: LEAVES }),
    fc.integer({ min: 1, max: 1100 }),
    fc.constantFrom(1, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 131_072, 70_000, LEAVES),
  );

  test("root, inclusion proof and consistency proof are made from the tiles above the leaves", () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (size, indexChance, fromChance) => {
        const root = naive.mth(0, size);
        expect(hex(rootOf(size, hashesFrom(tilesAbove([], size))))).toBe(hex(root));

        const index = indexChance % size;
        const proof = inclusionProof(index, size, hashesFrom(tilesAbove([index], size)));
        expect(proof.map(hex)).toEqual(naive.path(index, size).map(hex));
        expect(verifyInclusion({ leaf: leafHash(leafData(index)), index, size, proof, root })).toBe(true);

        const from = 1 + (fromChance % size);
        const growth = consistencyProof(from, size, hashesFrom(tilesAbove([from - 1], size)));
        expect(growth.map(hex)).toEqual(naive.proof(from, size).map(hex));
        const fromRoot = naive.mth(0, from);
        expect(verifyConsistency({ from, to: size, fromRoot, toRoot: root, proof: growth })).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  test("tiles of a larger tree also work, and a missing or short tile is reported as not loaded", () => {
    const tiles = tilesAbove([700], 70_000);
    const wider = new Map([...tiles].map(([name, tile]) => [name, { ...tile, width: TILE_WIDTH }]));
    const hashes = inclusionProof(700, 70_000, hashesFrom(wider));
    expect(hashes.map(hex)).toEqual(naive.path(700, 70_000).map(hex));
    expect([...tiles.keys()].sort()).toEqual(["0/2", "0/273", "1/0", "1/1", "2/0"]);
    // The one of level 2 is for the root alone.
    for (const name of ["0/2", "0/273", "1/0", "1/1"]) {
      const others = new Map([...tiles].filter(([other]) => other !== name));
      expect(() => inclusionProof(700, 70_000, hashesFrom(others))).toThrow(RangeError);
    }
    const short = subtreeHashFrom(() => tileLevels(new Uint8Array(TILE_BYTES - 1)));
    expect(() => short({ level: 7, index: 1 })).toThrow("tile 0/0 is not loaded");
  });
});
