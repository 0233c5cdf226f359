/**
 * The numbers of a source that have not come: the same set of numbers leaves the same gaps, in any order. A gap contains what must be known of the
 * numbers around it, so that a number changes only the gap that it is in, or right behind.
 */
import { countWhile } from "../../law/cases/fact.ts";

export interface Gap {
  readonly first: number;
  readonly last: number;
  /** The time of the event after it; if several have that number, of the earliest. */
  readonly since: string;
}

export interface Numbers {
  last: number;
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
  const index = countWhile(gaps, ({ first }) => first <= number) - 1;
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

/** What heartbeats announced beyond the last number that came. */
export const gapAtEnd = (last: number, announced: readonly Announced[]): Gap | undefined => {
  const [first, highest] = [announced.at(0), announced.at(-1)];
  return first && highest && { first: last + 1, last: highest[0], since: first[1] };
};

/**
 * The highest numbers that heartbeats announced, as long as no event with such a high number has come. Of the heartbeats of one day (UTC) only the one that
 * announced the most counts, at its earliest time, so that a source of which only heartbeats arrive adds one entry a day.
 */
export type Announced = readonly [number: number, at: string];

const DAY_CHARACTERS = "2026-11-20".length;
const dayOf = ([, at]: Announced): string => at.slice(0, DAY_CHARACTERS);

/** `at` is a time as text that sorts by time. Its place is found by binary search: a source that sends for years has thousands of days. */
export const withAnnounced = (
  announced: readonly Announced[],
  number: number,
  at: string,
): readonly Announced[] => {
  const said: Announced = [number, at];
  const place = countWhile(announced, ([, each]) => each < at);
  const [before, after] = [announced[place - 1], announced[place]];
  const isOfDay = (other: Announced | undefined): boolean =>
    other !== undefined && dayOf(other) === dayOf(said);
  const known = isOfDay(before) ? before : isOfDay(after) ? after : undefined;
  if (known && (known[0] > number || (known[0] === number && known[1] <= at))) return announced;
  const first = known !== undefined && known === before ? place - 1 : place;
  if ((announced[first - 1]?.[0] ?? 0) >= number) return announced;
  // A later announcement of no higher number adds nothing.
  const next = countWhile(announced, ([each]) => each <= number);
  return announced.toSpliced(first, next - first, said);
};

/** The announcements of a number beyond the last one that came. */
export const beyond = (announced: readonly Announced[], last: number): readonly Announced[] => {
  const count = countWhile(announced, ([number]) => number <= last);
  return count === 0 ? announced : announced.slice(count);
};
