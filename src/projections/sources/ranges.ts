/** Which numbers of a source have come: ranges without a gap, in order. The same set of numbers gives the same ranges, in any order. */

import type { Announced } from "./announced.ts";

/** First and last number, and the time of the event with the first one. */
export type Range = readonly [first: number, last: number, at: string];

export const withNumber = (ranges: readonly Range[], number: number, at: string): readonly Range[] => {
  const index = ranges.findLastIndex(([first]) => first <= number);
  const before = ranges[index];
  const after = ranges[index + 1];
  if (before && number <= before[1]) {
    const isEarlier = number === before[0] && at < before[2];
    return isEarlier ? ranges.with(index, [before[0], before[1], at]) : ranges;
  }
  const joinsBefore = before?.[1] === number - 1;
  const joinsAfter = after?.[0] === number + 1;
  const joined: Range = [
    joinsBefore ? before[0] : number,
    joinsAfter ? after[1] : number,
    joinsBefore ? before[2] : at,
  ];
  return ranges.toSpliced(joinsBefore ? index : index + 1, Number(joinsBefore) + Number(joinsAfter), joined);
};

export interface Gap {
  readonly first: number;
  readonly last: number;
  readonly since: string;
}

export const lastIn = (ranges: readonly Range[]): number => ranges.at(-1)?.[1] ?? 0;

/** Numbers begin at 1. `announced`: those behind the last one that came (announced.ts). */
export const gapsIn = (ranges: readonly Range[], announced: readonly Announced[]): readonly Gap[] => {
  const gaps: Gap[] = [];
  let next = 1;
  for (const [first, last, at] of ranges) {
    if (first > next) gaps.push({ first: next, last: first - 1, since: at });
    next = last + 1;
  }
  const [first, last] = [announced.at(0), announced.at(-1)];
  if (first && last) gaps.push({ first: next, last: last[0], since: first[1] });
  return gaps;
};
