import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createNaiveTree } from "../../test/support/naive-tree.ts";
import { consistencyProof, HASH_BYTES, inclusionProof, rootOf } from "./rfc6962.ts";
import {
  formatTilePath,
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
  test.each([
    [0, 1234067, TILE_WIDTH, "0/x001/x234/067"],
    [0, 0, TILE_WIDTH, "0/000"],
    [1, 999, TILE_WIDTH, "1/999"],
    [1, 1000, TILE_WIDTH, "1/x001/000"],
    [63, 273, 112, "63/273.p/112"],
    [0, 1000, 255, "0/x001/000.p/255"],
    [0, Number.MAX_SAFE_INTEGER, TILE_WIDTH, "0/x009/x007/x199/x254/x740/991"],
  ])("tile %i/%i of width %i is written as in the specification", (level, index, width, path) => {
    expect(formatTilePath({ level, index, width })).toBe(path);
    expect(parseTilePath(path)).toEqual({ level, index, width });
  });

  const index = fc.oneof(
    fc.nat({ max: 2000 }),
    fc.nat({ max: 2_000_000 }),
    fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  );
  const anyTile = fc.record({ level: fc.nat({ max: 63 }), index, width: fc.integer({ min: 1, max: 256 }) });

  test("a tile has only one path, which is read back, and no other path is read", () => {
    const inserted = fc.constantFrom("", "0", "x", "/", ".p/", "000", "x000/", " ", "\n", "1");
    const near = fc.tuple(anyTile, fc.nat(), inserted).map(([tile, at, inserted]) => {
      const path = formatTilePath(tile);
      if (inserted === "") expect(parseTilePath(path)).toEqual(tile);
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
  test("are as the specification counts them for 70,000 leaves and for 256", () => {
    const widths = (level: number, size: number): Record<string, number> => {
      const found = Array.from({ length: 300 }, (_, index) => tileWidth({ level, index }, size));
      const counts = Map.groupBy(found, (width) => width);
      return Object.fromEntries([...counts].flatMap(([width, all]) => (width ? [[width, all.length]] : [])));
    };
    expect([0, 1, 2, 3].map((level) => widths(level, 70_000))).toEqual([
      { 256: 273, 112: 1 },
      { 256: 1, 17: 1 },
      { 1: 1 },
      {},
    ]);
    expect([0, 1, 2].map((level) => widths(level, 256))).toEqual([{ 256: 1 }, { 1: 1 }, {}]);
    expect(widths(0, 0)).toEqual({});
  });

  test("have seven levels for nearly 2^53 leaves", () => {
    const size = Number.MAX_SAFE_INTEGER;
    expect(tileWidth({ level: 7, index: 0 }, size)).toBe(0);
    expect(tileWidth({ level: 0, index: 2 ** 45 - 1 }, size)).toBe(255);
    const widths = [...tilesAbove([], size).values()].map(({ width }) => width);
    expect(widths).toEqual([255, 255, 255, 255, 255, 255, 31]);
  });
});

/** Only the tiles that were said to be needed can be read, at the widths that were said. 200,000 leaves make three levels. */
describe("proofs from tiles, for trees of up to 200,000 leaves", () => {
  const LEAVES = 200_000;
  const encoder = new TextEncoder();
  const naive = createNaiveTree((index) => encoder.encode(String(index)), { rememberedLeavesMin: 128 });

  const load = ({ level, index, width }: Tile): Uint8Array =>
    Buffer.concat(
      Array.from({ length: width }, (_, at) =>
        naive.hashOf({ level: 8 * level, index: index * TILE_WIDTH + at }),
      ),
    );
  const hashesFrom = (tiles: ReadonlyMap<string, Tile>) => {
    const loaded = new Map([...tiles].map(([name, tile]) => [name, tileLevels(load(tile))]));
    return subtreeHashFrom((name) => loaded.get(name));
  };

  const size = fc.oneof(
    fc.integer({ min: 1, max: LEAVES }),
    fc.integer({ min: 1, max: 1100 }),
    fc.constantFrom(1, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 131_072, 70_000, LEAVES),
  );

  test("root, inclusion proof and consistency proof are made from the tiles above the leaves", () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (size, indexChance, fromChance) => {
        expect(hex(rootOf(size, hashesFrom(tilesAbove([], size))))).toBe(hex(naive.mth(0, size)));
        const index = indexChance % size;
        const proof = inclusionProof(index, size, hashesFrom(tilesAbove([index], size)));
        expect(proof.map(hex)).toEqual(naive.path(index, size).map(hex));
        const from = 1 + (fromChance % size);
        const growth = consistencyProof(from, size, hashesFrom(tilesAbove([from - 1], size)));
        expect(growth.map(hex)).toEqual(naive.proof(from, size).map(hex));
      }),
      { numRuns: 40 },
    );
  });

  test("tiles of a larger tree also work, and a missing or short tile is reported as not loaded", () => {
    const tiles = tilesAbove([700], 70_000);
    expect([...tiles.keys()].sort()).toEqual(["0/2", "0/273", "1/0", "1/1", "2/0"]);
    const wider = new Map(
      [...tiles].map(([name, tile]) => [name, { ...tile, width: tileWidth(tile, LEAVES) }]),
    );
    const hashes = inclusionProof(700, 70_000, hashesFrom(wider));
    expect(hashes.map(hex)).toEqual(naive.path(700, 70_000).map(hex));
    // The one of level 2 is for the root alone.
    for (const name of ["0/2", "0/273", "1/0", "1/1"]) {
      const others = new Map([...tiles].filter(([other]) => other !== name));
      expect(() => inclusionProof(700, 70_000, hashesFrom(others))).toThrow(RangeError);
    }
    const short = subtreeHashFrom(() => tileLevels(new Uint8Array(TILE_BYTES - HASH_BYTES)));
    expect(() => short({ level: 7, index: 1 })).toThrow("tile 0/0 is not loaded");
  });
});
