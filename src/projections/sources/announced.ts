/**
 * The highest numbers that heartbeats announced, as far as events with numbers as high have not come. The same set of heartbeats and numbers gives the
 * same list, in any order of arrival: of the heartbeats of one day (UTC) only the one counts that announced the most, at its earliest time, so that
 * a sender of which nothing but heartbeats arrives adds one entry a day.
 */
import { countWhile } from "../../cases/count-while.ts";

/** In the order of the times, and of the numbers: a later one that announces no more says nothing new. */
export type Announced = readonly [number: number, at: string];

const DAY_CHARACTERS = "2026-11-20".length;
const dayOf = ([, at]: Announced): string => at.slice(0, DAY_CHARACTERS);

/** `at` is a time as text that sorts. Its place is found by halves: a sender that is heard of for years has thousands of days. */
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
  // What is announced later and is no more says nothing new.
  const next = countWhile(announced, ([each]) => each <= number);
  return announced.toSpliced(first, next - first, said);
};

/** Those that announce a number behind the last one that came. */
export const beyond = (announced: readonly Announced[], last: number): readonly Announced[] => {
  const count = countWhile(announced, ([number]) => number <= last);
  return count === 0 ? announced : announced.slice(count);
};
