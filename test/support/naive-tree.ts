/**
 * The recursive definitions of RFC 6962 §2.1, written as in the text: slow, and without any code from src/proof, so that they can check it.
 * Only the hashes of wider ranges are cached; otherwise all leaves would be hashed for every proof.
 */
import { createHash } from "node:crypto";

export interface NaiveTree {
  /** MTH(D[begin:end]) */
  mth(begin: number, end: number): Uint8Array;
  /** The same of the perfect subtree with this number on a level. */
  hashOf(subtree: { readonly level: number; readonly index: number }): Uint8Array;
  /** PATH(m, D[0:n]) */
  path(m: number, n: number): Uint8Array[];
  /** PROOF(m, D[0:n]) */
  proof(m: number, n: number): Uint8Array[];
}

export const createNaiveTree = (
  leaf: (index: number) => Uint8Array,
  { rememberedLeavesMin = 8 }: { readonly rememberedLeavesMin?: number } = {},
): NaiveTree => {
  const remembered = new Map<string, Uint8Array>();

  const mth = (begin: number, end: number): Uint8Array => {
    const key = `${begin} ${end}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const n = end - begin;
    const middle = begin + splitOf(n);
    const hash =
      n === 0
        ? sha256()
        : n === 1
          ? sha256(Uint8Array.of(0x00), leaf(begin))
          : sha256(Uint8Array.of(0x01), mth(begin, middle), mth(middle, end));
    if (n >= rememberedLeavesMin) remembered.set(key, hash);
    return hash;
  };
  const path = (m: number, begin: number, end: number): Uint8Array[] => {
    const n = end - begin;
    if (n === 1) return [];
    const k = splitOf(n);
    return m < k
      ? [...path(m, begin, begin + k), mth(begin + k, end)]
      : [...path(m - k, begin + k, end), mth(begin, begin + k)];
  };
  const subproof = (m: number, begin: number, end: number, isWhole: boolean): Uint8Array[] => {
    const n = end - begin;
    if (m === n) return isWhole ? [] : [mth(begin, end)];
    const k = splitOf(n);
    return m <= k
      ? [...subproof(m, begin, begin + k, isWhole), mth(begin + k, end)]
      : [...subproof(m - k, begin + k, end, false), mth(begin, begin + k)];
  };
  return {
    mth,
    hashOf: ({ level, index }) => mth(index * 2 ** level, (index + 1) * 2 ** level),
    path: (m, n) => path(m, 0, n),
    proof: (m, n) => subproof(m, 0, n, true),
  };
};

/** Perfect subtrees of a tree of any size in which all leaves but one are equal, so that each takes one step per level. */
export const oddLeafTree = (alike: Uint8Array, odd: Uint8Array, oddIndex: number): NaiveTree["hashOf"] => {
  const alikeAt: Uint8Array[] = [];
  const hashOf: NaiveTree["hashOf"] = ({ level, index }) => {
    const isOdd = Math.floor(oddIndex / 2 ** level) === index;
    const known = isOdd ? undefined : alikeAt[level];
    if (known) return known;
    const [left, right] = [2 * index, 2 * index + 1].map((at) => ({ level: level - 1, index: at }));
    const hash =
      level === 0 || !left || !right
        ? sha256(Uint8Array.of(0x00), isOdd ? odd : alike)
        : sha256(Uint8Array.of(0x01), hashOf(left), hashOf(right));
    if (!isOdd) alikeAt[level] = hash;
    return hash;
  };
  return hashOf;
};

/** "the largest power of two smaller than n (i.e., k < n <= 2k)" */
const splitOf = (n: number): number => {
  let k = 1;
  while (2 * k < n) k = 2 * k;
  return k;
};

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};
