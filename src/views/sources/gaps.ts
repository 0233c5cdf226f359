/**
 * The numbers of a source that have not come: the same set of numbers leaves the same gaps, in any order. A gap contains what must be known of the
 * numbers around it, so that a number changes only the gap that it is in, or right behind.
 */
import type { Announced } from "./announced.ts";

export interface Gap {
  readonly first: number;
  readonly last: number;
  /** The time of the event after it; if several have that number, of the earliest. */
  readonly since: string;
}

export interface Numbers {
  /** The highest number that has come; 0 for none. */
  last: number;
  /** How many different numbers have come. */
  received: number;
  /**
   * Gaps before `last`, in order. For each number that is taken from them, the last gap that begins at or before it is included; others may be
   * missing.
   */
  readonly gaps: Gap[];
}

/** Numbers begin at 1. `at` is a time as text that sorts by time. */
export const takeNumber = (numbers: Numbers, number: number, at: string): void => {
  const { gaps, last } = numbers;
  if (number > last) {
    if (number > last + 1) gaps.push({ first: last + 1, last: number - 1, since: at });
    numbers.last = number;
    numbers.received++;
    return;
  }
  const index = lastAtOrBefore(gaps, number);
  const gap = gaps[index];
  if (!gap) return;
  if (number > gap.last) {
    if (number === gap.last + 1 && at < gap.since) gaps[index] = { ...gap, since: at };
    return;
  }
  const left: Gap[] = [];
  if (gap.first < number) left.push({ first: gap.first, last: number - 1, since: at });
  if (number < gap.last) left.push({ first: number + 1, last: gap.last, since: gap.since });
  gaps.splice(index, 1, ...left);
  numbers.received++;
};

/** Its index; -1 if there is none. */
const lastAtOrBefore = (gaps: readonly Gap[], number: number): number => {
  let [low, high] = [0, gaps.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((gaps[middle]?.first ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

/** What heartbeats announced beyond the last number that came (announced.ts). */
export const gapAtEnd = (last: number, announced: readonly Announced[]): Gap | undefined => {
  const [first, highest] = [announced.at(0), announced.at(-1)];
  return first && highest && { first: last + 1, last: highest[0], since: first[1] };
};
