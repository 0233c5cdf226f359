import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { createNaiveTree } from "../../test/support/naive-tree.ts";
import {
  consistencyProof,
  createCompactRange,
  EMPTY_ROOT,
  HASH_BYTES,
  type Hash,
  inclusionProof,
  leafHash,
  nodeHash,
  rootOf,
  type SubtreeHash,
  verifyConsistency,
  verifyInclusion,
} from "./rfc6962.ts";

const SIZE_MAX = 600;
/** All proofs are checked up to this size, and some above it. */
const ALL_PROOFS_SIZE_MAX = 130;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
/** One text of all hashes, so that one text is compared instead of a list. There are 30,000 lists. */
const inOne = (hashes: readonly Uint8Array[]): string => hashes.map(hex).join(" ");
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));

/** Hashes of perfect subtrees by their definition: two halves joined. They are remembered, and use our hash functions. */
const subtreeHashesOver = (leaves: readonly Uint8Array[]): SubtreeHash => {
  const remembered = new Map<string, Hash>();
  const hashOf: SubtreeHash = ({ level, index }) => {
    const key = `${level} ${index}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const data = leaves[index];
    if (level === 0 && data === undefined) throw new RangeError(`there is no leaf ${index}`);
    const hash =
      level === 0
        ? leafHash(data ?? new Uint8Array())
        : nodeHash(
            hashOf({ level: level - 1, index: 2 * index }),
            hashOf({ level: level - 1, index: 2 * index + 1 }),
          );
    remembered.set(key, hash);
    return hash;
  };
  return hashOf;
};

const leaves = Array.from({ length: SIZE_MAX }, (_, index) => new TextEncoder().encode(`leaf ${index}`));
const hashOf = subtreeHashesOver(leaves);
const leafOf = (index: number): Hash => hashOf({ level: 0, index });
const naive = createNaiveTree((index) => leaves[index] ?? new Uint8Array());
const roots = Array.from({ length: SIZE_MAX + 1 }, (_, size) => naive.mth(0, size));
const rootAt = (size: number): Hash => roots[size] ?? new Uint8Array();

/** 0 … size - 1, or some of them and always the edges. */
const sampled = (size: number): readonly number[] => {
  if (size <= ALL_PROOFS_SIZE_MAX) return Array.from({ length: size }, (_, index) => index);
  const powers = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].filter((power) => power < size);
  return [...new Set([0, size - 1, size - 2, (size * 7919) % size, (size * 31) % 97, ...powers])];
};

describe("the definitions of RFC 6962 §2.1, for every size up to 600", () => {
  test("the root of a tree is as defined, also if the tree grows leaf by leaf", () => {
    const range = createCompactRange();
    for (let size = 0; size <= SIZE_MAX; size++) {
      if (size > 0) range.append(leafOf(size - 1));
      expect(hex(rootOf(size, hashOf))).toBe(hex(rootAt(size)));
      expect(hex(range.root())).toBe(hex(rootAt(size)));
      expect(range.size()).toBe(size);
    }
  });

  test("every inclusion proof is as defined and verifies", () => {
    for (let size = 1; size <= SIZE_MAX; size++)
      for (const index of sampled(size)) {
        const proof = inclusionProof(index, size, hashOf);
        expect(inOne(proof)).toBe(inOne(naive.path(index, size)));
        expect(verifyInclusion({ leaf: leafOf(index), index, size, proof, root: rootAt(size) })).toBe(true);
      }
  });

  test("every consistency proof is as defined and verifies", () => {
    for (let to = 1; to <= SIZE_MAX; to++)
      for (const from of [...sampled(to).filter((from) => from > 0), to]) {
        const proof = consistencyProof(from, to, hashOf);
        expect(inOne(proof)).toBe(inOne(naive.proof(from, to)));
        expect(verifyConsistency({ from, to, fromRoot: rootAt(from), toRoot: rootAt(to), proof })).toBe(true);
      }
  });

  test("a long leaf is hashed like a short one", () => {
    for (const length of [0, 1, 4095, 4096, 4097, 100_000]) {
      const data = new Uint8Array(length).fill(7);
      expect(hex(leafHash(data))).toBe(
        createHash("sha256").update(Uint8Array.of(0)).update(data).digest("hex"),
      );
    }
    // The longer leaf before it leaves nothing behind.
    expect(hex(leafHash(new Uint8Array(0)))).toBe(hex(rootOf(1, subtreeHashesOver([new Uint8Array(0)]))));
  });
});

describe("the published vectors of Certificate Transparency", () => {
  const inputs = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
  ].map(fromHex);
  const vectorHashOf = subtreeHashesOver(inputs);
  const LEAVES = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    "0298d122906dcfc10892cb53a73992fc5b9f493ea4c9badb27b791b4127a7fe7",
    "07506a85fd9dd2f120eb694f86011e5bb4662e5c415a62917033d4a9624487e7",
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "4271a26be0d8a84f0bd54c8c302e7cb3a3b5d1fa6780a40bcce2873477dab658",
    "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
    "46f6ffadd3d06a09ff3c5860d2755c8b9819db7df44251788c7d8e3180de8eb1",
  ];
  const ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ];
  const PAIRS = [
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
  ];
  const LEFT = "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7";
  const RIGHT = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";

  test("leaf hashes, and the roots of trees of every size, equal the vectors", () => {
    expect(inputs.map((input) => hex(leafHash(input)))).toEqual(LEAVES);
    expect(ROOTS.map((_, size) => hex(rootOf(size, vectorHashOf)))).toEqual(ROOTS);
    expect(hex(EMPTY_ROOT)).toBe(ROOTS[0] ?? "");
  });

  const INCLUSION: readonly (readonly [number, number, readonly (string | undefined)[]])[] = [
    [0, 1, []],
    [0, 8, [LEAVES[1], PAIRS[1], RIGHT]],
    [1, 8, [LEAVES[0], PAIRS[1], RIGHT]],
    [2, 8, [LEAVES[3], PAIRS[0], RIGHT]],
    [3, 8, [LEAVES[2], PAIRS[0], RIGHT]],
    [4, 8, [LEAVES[5], PAIRS[3], LEFT]],
    [5, 8, [LEAVES[4], PAIRS[3], LEFT]],
    [6, 8, [LEAVES[7], PAIRS[2], LEFT]],
    [7, 8, [LEAVES[6], PAIRS[2], LEFT]],
    [2, 3, [PAIRS[0]]],
    [1, 5, [LEAVES[0], PAIRS[1], LEAVES[4]]],
  ];

  test.each(INCLUSION)("the inclusion proof of leaf %i in a tree of %i is right", (index, size, path) => {
    expect(inclusionProof(index, size, vectorHashOf).map(hex)).toEqual(path.map(String));
  });

  const CONSISTENCY: readonly (readonly [number, number, readonly (string | undefined)[]])[] = [
    [1, 1, []],
    [1, 8, [LEAVES[1], PAIRS[1], RIGHT]],
    [6, 8, [PAIRS[2], PAIRS[3], LEFT]],
    [2, 5, [PAIRS[1], LEAVES[4]]],
    [4, 8, [RIGHT]],
    [7, 8, [LEAVES[6], LEAVES[7], PAIRS[2], LEFT]],
    [
      3,
      7,
      [LEAVES[2], LEAVES[3], PAIRS[0], "837dbb152e9b079010717e84e865da4ebc0fa198a806d59d31bf15accef22d0e"],
    ],
  ];

  test.each(CONSISTENCY)("the consistency proof of trees of %i and %i is right", (from, to, path) => {
    expect(consistencyProof(from, to, vectorHashOf).map(hex)).toEqual(path.map(String));
  });
});

describe("wrong proofs are refused", () => {
  const flipped = (bytes: Uint8Array, position: number): Uint8Array =>
    bytes.map((byte, index) => (index === position ? byte ^ (1 << (position % 8)) : byte));
  const positions = Array.from({ length: HASH_BYTES }, (_, position) => position);

  /** Every way to damage a list of hashes in one step. */
  const damaged = (proof: readonly Hash[]): readonly (readonly Hash[])[] => [
    ...proof.flatMap((hash, at) => positions.map((position) => proof.with(at, flipped(hash, position)))),
    ...proof.map((_, at) => proof.toSpliced(at, 1)),
    ...proof.map((hash, at) => proof.toSpliced(at, 0, hash)),
    ...proof.slice(1).map((hash, at) => proof.toSpliced(at, 2, hash, proof[at] ?? hash)),
    ...proof.map((hash, at) => proof.with(at, hash.subarray(1))),
    ...proof.map((hash, at) => proof.with(at, Uint8Array.of(...hash, 0))),
    [...proof, new Uint8Array(HASH_BYTES)],
    [...proof, leafOf(0)],
    [new Uint8Array(HASH_BYTES), ...proof],
  ];

  /** Sizes of trees with more levels and longer paths. */
  const deeperThan = (size: number): readonly number[] => {
    const full = 2 ** Math.ceil(Math.log2(size));
    return [full + 1, 2 * full, 2 * full + 1, 2 ** 40];
  };

  const sizes = fc.integer({ min: 1, max: 300 });

  test("an inclusion proof with any byte, length or place changed", () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (size, chance) => {
        const index = chance % size;
        const proof = inclusionProof(index, size, hashOf);
        const given = { leaf: leafOf(index), index, size, proof, root: rootAt(size) };
        expect(verifyInclusion(given)).toBe(true);
        for (const changed of damaged(proof))
          expect(verifyInclusion({ ...given, proof: changed })).toBe(false);
        for (const position of positions) {
          expect(verifyInclusion({ ...given, leaf: flipped(given.leaf, position) })).toBe(false);
          expect(verifyInclusion({ ...given, root: flipped(given.root, position) })).toBe(false);
        }
        for (let other = 0; other < size + 3; other++)
          if (other !== index) expect(verifyInclusion({ ...given, index: other })).toBe(false);
        for (const other of deeperThan(size)) expect(verifyInclusion({ ...given, size: other })).toBe(false);
        // The path does not bind every other size: leaf 0 of 3 and leaf 0 of 4 have paths of the same shape. The root binds the size.
        for (let other = index + 1; other <= SIZE_MAX; other++)
          if (other !== size)
            expect(verifyInclusion({ ...given, size: other, root: rootAt(other) })).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  test("a consistency proof with any byte, length or size changed", () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (to, chance) => {
        const from = 1 + (chance % to);
        const proof = consistencyProof(from, to, hashOf);
        const given = { from, to, fromRoot: rootAt(from), toRoot: rootAt(to), proof };
        expect(verifyConsistency(given)).toBe(true);
        for (const changed of damaged(proof))
          expect(verifyConsistency({ ...given, proof: changed })).toBe(false);
        for (const position of positions) {
          expect(verifyConsistency({ ...given, fromRoot: flipped(given.fromRoot, position) })).toBe(false);
          expect(verifyConsistency({ ...given, toRoot: flipped(given.toRoot, position) })).toBe(false);
        }
        for (const other of deeperThan(to)) expect(verifyConsistency({ ...given, to: other })).toBe(false);
        for (let other = 1; other <= SIZE_MAX; other++) {
          if (other !== from)
            expect(verifyConsistency({ ...given, from: other, fromRoot: rootAt(other) })).toBe(
              // An empty proof is enough for trees of the same size.
              other === to && proof.length === 0,
            );
          if (other !== to)
            expect(verifyConsistency({ ...given, to: other, toRoot: rootAt(other) })).toBe(
              other === from && proof.length === 0,
            );
        }
      }),
      { numRuns: 40 },
    );
  });

  test("the root of a larger tree instead of a smaller one", () => {
    const root = rootAt(2);
    expect(verifyInclusion({ leaf: leafOf(1), index: 0, size: 1, proof: [leafOf(0)], root })).toBe(false);
    expect(verifyInclusion({ leaf: leafOf(1), index: 1, size: 2, proof: [leafOf(0)], root })).toBe(true);
  });

  test("hashes of another length with a right proof", () => {
    for (const length of [0, 31, 33, 64]) {
      const other = new Uint8Array(length);
      const proof = inclusionProof(2, 7, hashOf);
      const given = { leaf: leafOf(2), index: 2, size: 7, proof, root: rootAt(7) };
      expect(verifyInclusion({ ...given, leaf: other })).toBe(false);
      expect(verifyInclusion({ ...given, root: other })).toBe(false);
      for (const from of [3, 4]) {
        const growth = consistencyProof(from, 7, hashOf);
        const trees = { from, to: 7, fromRoot: rootAt(from), toRoot: rootAt(7), proof: growth };
        expect(verifyConsistency({ ...trees, fromRoot: other })).toBe(false);
        expect(verifyConsistency({ ...trees, toRoot: other })).toBe(false);
      }
    }
  });

  test("another history of the same length", () => {
    const other = subtreeHashesOver(leaves.map((leaf, index) => (index === 5 ? leafOf(0) : leaf)));
    for (const to of [6, 7, 8, 9, 64, 100])
      for (let from = 1; from <= to; from++) {
        const proof = consistencyProof(from, to, other);
        const isSame = from < 6 && from < to;
        const toRoot = rootOf(to, other);
        expect(verifyConsistency({ from, to, fromRoot: rootAt(from), toRoot, proof })).toBe(isSame);
      }
  });

  test("from an empty tree no proof is needed, but its root must be right", () => {
    const given = { from: 0, to: 5, fromRoot: EMPTY_ROOT, toRoot: rootAt(5), proof: [] };
    expect(consistencyProof(0, 5, hashOf)).toEqual([]);
    expect(verifyConsistency(given)).toBe(true);
    expect(verifyConsistency({ ...given, fromRoot: rootAt(1) })).toBe(false);
    expect(verifyConsistency({ ...given, proof: [rootAt(5)] })).toBe(false);
    expect(verifyConsistency({ ...given, to: 0, toRoot: EMPTY_ROOT })).toBe(true);
    expect(verifyConsistency({ ...given, to: 0 })).toBe(false);
    expect(verifyConsistency({ ...given, to: 0, fromRoot: rootAt(1), toRoot: rootAt(1) })).toBe(false);
  });

  test("for equal sizes anything but equal roots and an empty proof", () => {
    const given = { from: 5, to: 5, fromRoot: rootAt(5), toRoot: rootAt(5), proof: [] };
    expect(verifyConsistency(given)).toBe(true);
    expect(verifyConsistency({ ...given, toRoot: rootAt(4) })).toBe(false);
    expect(verifyConsistency({ ...given, proof: [rootAt(5)] })).toBe(false);
  });

  test("nonsense, without throwing", () => {
    const count = fc.oneof(
      fc.integer({ min: -3, max: 40 }),
      fc.constantFrom(0.5, Number.NaN, Number.POSITIVE_INFINITY, -0, 2 ** 53, 2 ** 53 - 1, 2 ** 32, 2 ** 31),
    );
    const bytes = fc.oneof(fc.uint8Array({ minLength: 31, maxLength: 33 }), fc.uint8Array({ maxLength: 2 }));
    const proof = fc.array(bytes, { maxLength: 70 });
    fc.assert(
      fc.property(bytes, count, count, proof, bytes, (leaf, index, size, proof, root) => {
        expect(verifyInclusion({ leaf, index, size, proof, root })).toBe(false);
        const isEqual = index === size && index > 0 && proof.length === 0;
        if (!isEqual)
          expect(verifyConsistency({ from: index, to: size, fromRoot: leaf, toRoot: root, proof })).toBe(
            false,
          );
      }),
      { numRuns: 2000 },
    );
  });

  test("leaves and trees that do not exist, when proofs are made", () => {
    for (const [index, size] of [
      [0, 0],
      [5, 5],
      [-1, 5],
      [0.5, 5],
      [0, 2 ** 53],
    ] as const)
      expect(() => inclusionProof(index, size, hashOf)).toThrow(RangeError);
    expect(() => consistencyProof(6, 5, hashOf)).toThrow(RangeError);
    expect(() => consistencyProof(-1, 5, hashOf)).toThrow(RangeError);
    expect(() => rootOf(Number.NaN, hashOf)).toThrow(RangeError);
    expect(() => nodeHash(new Uint8Array(31), EMPTY_ROOT)).toThrow(RangeError);
  });
});

/**
 * 1. All leaves except one are equal, so a subtree's hash follows from its width and from the place of the odd leaf in it.
 * 2. So the definition can be followed for any size, in steps instead of leaves.
 * 3. A wrong place in a path would show, because the odd leaf would be in the wrong place.
 */
describe("trees beyond 32 bits", () => {
  const alike = leafHash(Uint8Array.of(1));
  const odd = leafHash(Uint8Array.of(2));
  const splitOf = (n: bigint): bigint => 1n << BigInt((n - 1n).toString(2).length - 1);

  const alikeRoots = new Map<bigint, Hash>([[1n, alike]]);
  const alikeRoot = (n: bigint): Hash => {
    const known = alikeRoots.get(n);
    if (known !== undefined) return known;
    const k = splitOf(n);
    const root = nodeHash(alikeRoot(k), alikeRoot(n - k));
    alikeRoots.set(n, root);
    return root;
  };
  const definedRoot = (begin: bigint, end: bigint, oddIndex: bigint): Hash => {
    if (oddIndex < begin || oddIndex >= end) return alikeRoot(end - begin);
    if (end - begin === 1n) return odd;
    const middle = begin + splitOf(end - begin);
    return nodeHash(definedRoot(begin, middle, oddIndex), definedRoot(middle, end, oddIndex));
  };
  const hashesWith =
    (oddIndex: number): SubtreeHash =>
    ({ level, index }) => {
      const width = 1n << BigInt(level);
      return definedRoot(BigInt(index) * width, (BigInt(index) + 1n) * width, BigInt(oddIndex));
    };

  const size = fc.oneof(
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.integer({ min: 2 ** 31 - 2, max: 2 ** 32 + 2 }),
    fc.constantFrom(2 ** 32, 2 ** 32 + 1, 2 ** 52, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER),
  );
  const below = (bound: number, share: number): number => Math.min(bound - 1, Math.floor(bound * share));
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  test("roots, inclusion proofs and consistency proofs are right up to 2^53 - 1", () => {
    fc.assert(
      fc.property(size, share, share, (size, oddShare, fromShare) => {
        const index = below(size, oddShare);
        const hashOf = hashesWith(index);
        const root = definedRoot(0n, BigInt(size), BigInt(index));
        expect(hex(rootOf(size, hashOf))).toBe(hex(root));
        const proof = inclusionProof(index, size, hashOf);
        expect(verifyInclusion({ leaf: odd, index, size, proof, root })).toBe(true);
        for (const other of [index - 1, index + 1, index - 2 ** 32, index + 2 ** 32])
          expect(verifyInclusion({ leaf: odd, index: other, size, proof, root })).toBe(false);
        const from = below(size, fromShare) + 1;
        const fromRoot = definedRoot(0n, BigInt(from), BigInt(index));
        const growth = consistencyProof(from, size, hashOf);
        expect(verifyConsistency({ from, to: size, fromRoot, toRoot: root, proof: growth })).toBe(true);
        const wrong = growth.map((hash, at) => (at === 0 ? nodeHash(hash, hash) : hash));
        expect(verifyConsistency({ from, to: size, fromRoot, toRoot: root, proof: wrong })).toBe(
          from === size,
        );
      }),
      { numRuns: 300 },
    );
  });
});
