import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { createNaiveTree, oddLeafTree } from "../../test/support/naive-tree.ts";
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
  verifyConsistency,
  verifyInclusion,
} from "./rfc6962.ts";

const SIZE_MAX = 600;
/** All proofs are checked up to this size, and some above it. */
const ALL_PROOFS_SIZE_MAX = 130;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
/** One text of all hashes, so that one text is compared instead of a list. There are 30,000 lists. */
const inOne = (hashes: readonly Uint8Array[]): string => hashes.map(hex).join(" ");

const data = (index: number): Uint8Array => new TextEncoder().encode(`leaf ${index}`);
const naive = createNaiveTree(data, { rememberedLeavesMin: 1 });
const { hashOf } = naive;
const leafOf = (index: number): Hash => hashOf({ level: 0, index });
const rootAt = (size: number): Hash => naive.mth(0, size);

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
      if (size > 0) range.append(leafHash(data(size - 1)));
      expect(hex(rootOf(size, hashOf))).toBe(hex(rootAt(size)));
      expect(hex(range.root())).toBe(hex(rootAt(size)));
      expect(range.size()).toBe(size);
    }
  });

  test("every proof is as defined and verifies", () => {
    for (let size = 1; size <= SIZE_MAX; size++) {
      for (const index of sampled(size)) {
        const proof = inclusionProof(index, size, hashOf);
        expect(inOne(proof)).toBe(inOne(naive.path(index, size)));
        expect(verifyInclusion({ leaf: leafOf(index), index, size, proof, root: rootAt(size) })).toBe(true);
      }
      for (const from of [...sampled(size).filter((from) => from > 0), size]) {
        const proof = consistencyProof(from, size, hashOf);
        expect(inOne(proof)).toBe(inOne(naive.proof(from, size)));
        const roots = { fromRoot: rootAt(from), toRoot: rootAt(size) };
        expect(verifyConsistency({ from, to: size, ...roots, proof })).toBe(true);
      }
    }
  });

  test("a long leaf is hashed like a short one", () => {
    // The longer leaf before the last one leaves nothing behind.
    for (const length of [0, 1, 4095, 4096, 4097, 100_000, 0]) {
      const leaf = new Uint8Array(length).fill(7);
      const defined = createHash("sha256").update(Uint8Array.of(0)).update(leaf).digest("hex");
      expect(hex(leafHash(leaf))).toBe(defined);
    }
  });
});

test("leaf hashes, and the roots of trees of every size, equal the published vectors of Certificate Transparency", () => {
  const INPUTS = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
  ];
  const inputs = INPUTS.map((text) => new Uint8Array(Buffer.from(text, "hex")));
  const vectors = createNaiveTree((index) => inputs[index] ?? new Uint8Array());
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

  expect(inputs.map((input) => hex(leafHash(input)))).toEqual(LEAVES);
  expect(ROOTS.map((_, size) => hex(rootOf(size, vectors.hashOf)))).toEqual(ROOTS);
  expect(hex(EMPTY_ROOT)).toBe(ROOTS[0] ?? "");
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
        const accepts = (other: Partial<typeof given>) => verifyInclusion({ ...given, ...other });
        for (const changed of damaged(proof)) expect(accepts({ proof: changed })).toBe(false);
        for (const position of positions) {
          expect(accepts({ leaf: flipped(given.leaf, position) })).toBe(false);
          expect(accepts({ root: flipped(given.root, position) })).toBe(false);
        }
        for (let other = 0; other < size + 3; other++)
          if (other !== index) expect(accepts({ index: other })).toBe(false);
        for (const other of deeperThan(size)) expect(accepts({ size: other })).toBe(false);
        // The path does not bind every other size: leaf 0 of 3 and leaf 0 of 4 have paths of the same shape. The root binds the size.
        for (let other = index + 1; other <= SIZE_MAX; other++)
          if (other !== size) expect(accepts({ size: other, root: rootAt(other) })).toBe(false);
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
        const accepts = (other: Partial<typeof given>) => verifyConsistency({ ...given, ...other });
        for (const changed of damaged(proof)) expect(accepts({ proof: changed })).toBe(false);
        for (const position of positions) {
          expect(accepts({ fromRoot: flipped(given.fromRoot, position) })).toBe(false);
          expect(accepts({ toRoot: flipped(given.toRoot, position) })).toBe(false);
        }
        for (const other of deeperThan(to)) expect(accepts({ to: other })).toBe(false);
        // An empty proof is enough for trees of the same size.
        const isEmpty = proof.length === 0;
        for (let other = 1; other <= SIZE_MAX; other++) {
          const root = rootAt(other);
          if (other !== from) expect(accepts({ from: other, fromRoot: root })).toBe(other === to && isEmpty);
          if (other !== to) expect(accepts({ to: other, toRoot: root })).toBe(other === from && isEmpty);
        }
      }),
      { numRuns: 40 },
    );
  });

  test("the root of a larger tree instead of a smaller one", () => {
    const given = { leaf: leafOf(1), index: 1, size: 2, proof: [leafOf(0)], root: rootAt(2) };
    expect(verifyInclusion(given)).toBe(true);
    expect(verifyInclusion({ ...given, index: 0, size: 1 })).toBe(false);
  });

  test("another history of the same length", () => {
    const other = createNaiveTree((index) => data(index === 5 ? 0 : index));
    for (const to of [6, 7, 8, 9, 64, 100])
      for (let from = 1; from <= to; from++) {
        const proof = consistencyProof(from, to, other.hashOf);
        const given = { from, to, fromRoot: rootAt(from), toRoot: other.mth(0, to), proof };
        expect(verifyConsistency(given)).toBe(from < 6 && from < to);
      }
  });

  test("from an empty tree and for equal sizes anything but the right roots and an empty proof", () => {
    const [empty, five] = [EMPTY_ROOT, rootAt(5)];
    expect(consistencyProof(0, 5, hashOf)).toEqual([]);
    const right = [
      { from: 0, to: 5, fromRoot: empty, toRoot: five, proof: [] },
      { from: 0, to: 0, fromRoot: empty, toRoot: empty, proof: [] },
      { from: 5, to: 5, fromRoot: five, toRoot: five, proof: [] },
    ];
    for (const given of right) {
      expect(verifyConsistency(given)).toBe(true);
      expect(verifyConsistency({ ...given, fromRoot: rootAt(1) })).toBe(false);
      expect(verifyConsistency({ ...given, proof: [five] })).toBe(false);
      if (given.from === given.to) expect(verifyConsistency({ ...given, toRoot: rootAt(4) })).toBe(false);
    }
    const one = rootAt(1);
    expect(verifyConsistency({ from: 0, to: 0, fromRoot: one, toRoot: one, proof: [] })).toBe(false);
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
        const trees = { from: index, to: size, fromRoot: leaf, toRoot: root };
        if (!isEqual) expect(verifyConsistency({ ...trees, proof })).toBe(false);
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
    for (const from of [6, -1]) expect(() => consistencyProof(from, 5, hashOf)).toThrow(RangeError);
    expect(() => rootOf(Number.NaN, hashOf)).toThrow(RangeError);
    expect(() => nodeHash(new Uint8Array(31), EMPTY_ROOT)).toThrow(RangeError);
  });
});

/** A wrong place in a path shows, because the odd leaf is in the wrong place then. */
test("proofs of trees beyond 32 bits are right, up to 2^53 - 1 leaves", () => {
  const [alike, odd] = [Uint8Array.of(1), Uint8Array.of(2)];
  const size = fc.oneof(
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.integer({ min: 2 ** 31 - 2, max: 2 ** 32 + 2 }),
    fc.constantFrom(2 ** 32, 2 ** 32 + 1, 2 ** 52, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER),
  );
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const below = (bound: number, share: number): number => Math.min(bound - 1, Math.floor(bound * share));
  fc.assert(
    fc.property(size, share, share, (size, oddShare, fromShare) => {
      const index = below(size, oddShare);
      const hashOf = oddLeafTree(alike, odd, index);
      const root = rootOf(size, hashOf);
      const given = { leaf: leafHash(odd), index, size, proof: inclusionProof(index, size, hashOf), root };
      expect(verifyInclusion(given)).toBe(true);
      for (const other of [index - 1, index + 1, index - 2 ** 32, index + 2 ** 32])
        expect(verifyInclusion({ ...given, index: other })).toBe(false);
      const from = below(size, fromShare) + 1;
      const proof = consistencyProof(from, size, hashOf);
      const trees = { from, to: size, fromRoot: rootOf(from, hashOf), toRoot: root };
      expect(verifyConsistency({ ...trees, proof })).toBe(true);
      const wrong = proof.map((hash, at) => (at === 0 ? nodeHash(hash, hash) : hash));
      expect(verifyConsistency({ ...trees, proof: wrong })).toBe(from === size);
    }),
    { numRuns: 300 },
  );
});
