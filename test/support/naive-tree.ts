/**
 * The recursive definitions of RFC 6962 §2.1, written as in the text: slow, and without any code from src/proof, so that they can check it.
 * Only the hashes of wider ranges are cached; otherwise all leaves would be hashed for every proof.
 */
import { createHash } from "node:crypto";

export interface NaiveTree {
  /** MTH(D[begin:end]) */
  mth(begin: number, end: number): Uint8Array;
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
    const hash = computed(begin, end);
    if (end - begin >= rememberedLeavesMin) remembered.set(key, hash);
    return hash;
  };

  const computed = (begin: number, end: number): Uint8Array => {
    const n = end - begin;
    if (n === 0) return sha256();
    if (n === 1) return sha256(Uint8Array.of(0x00), leaf(begin));
    const k = splitOf(n);
    return sha256(Uint8Array.of(0x01), mth(begin, begin + k), mth(begin + k, end));
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
    path: (m, n) => path(m, 0, n),
    proof: (m, n) => subproof(m, 0, n, true),
  };
};

/** "the largest power of two smaller than n (i.e., k < n <= 2k)" */
const splitOf = (n: number): number => {
  let k = 1;
  while (!(k < n && n <= 2 * k)) k = 2 * k;
  return k;
};

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};
