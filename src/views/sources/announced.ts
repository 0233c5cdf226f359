/**
 * The highest numbers that heartbeats announced, as long as no event with such a high number has come. The same set of heartbeats and numbers gives
 * the same list in any order of arrival: of the heartbeats of one day (UTC) only the one that announced the most counts, at its earliest time, so
 * that a source of which only heartbeats arrive adds one entry a day.
 */
import { countWhile } from "../../law/cases/count-while.ts";

/** In the order of the times, and of the numbers: a later heartbeat that announces no more adds nothing. */
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
