/**
 * The terms that a text index has of each record, as one number per record: the sum of the hashes of its terms, modulo 2^32. Sums do not depend on
 * the order of the terms, so what a database lists term by term can be compared with what is made record by record. Four bytes per record of the log.
 * Two different sets of terms have the same sum once in 2^32 times: this finds errors, not deliberate collisions.
 */
import type { Sequence } from "../log/outcome.ts";

export interface TermPrints {
  /** Sets the terms of the record, replacing earlier ones. Repetitions count once. */
  set(sequence: Sequence, terms: readonly string[]): void;
  /** Adds one term; each must be added once. */
  add(sequence: Sequence, term: string): void;
  /** 0 for a record without terms. */
  at(sequence: Sequence): number;
  /** The greatest sequence so far. */
  last(): Sequence;
}

export const createTermPrints = (): TermPrints => {
  let prints = new Uint32Array(1024);
  let last = 0;
  /** A database lists equal terms consecutively. */
  let known = { term: "", hash: termHash("") };
  const hashOf = (term: string): number => {
    if (term !== known.term) known = { term, hash: termHash(term) };
    return known.hash;
  };
  const put = (sequence: Sequence, print: number): void => {
    if (sequence >= prints.length) {
      const larger = new Uint32Array(Math.max(prints.length * 2, sequence + 1));
      larger.set(prints);
      prints = larger;
    }
    last = Math.max(last, sequence);
    prints[sequence] = print;
  };
  const at = (sequence: Sequence): number => prints[sequence] ?? 0;
  return {
    set: (sequence, terms) => {
      let print = 0;
      for (const term of new Set(terms)) print += hashOf(term);
      put(sequence, print);
    },
    add: (sequence, term) => put(sequence, at(sequence) + hashOf(term)),
    at,
    last: () => last,
  };
};

/**
 * FNV-1a over UTF-16 units, then the last step of MurmurHash3, without which sums of similar terms would collide. Never 0, so that a record with
 * terms has a print.
 */
const termHash = (term: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < term.length; index++)
    hash = Math.imul(hash ^ term.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0 || 1;
};
