/**
 * The highest numbers that heartbeats announced, as far as events with numbers as high have not come. The same set of heartbeats and numbers gives the
 * same list, in any order of arrival: of the heartbeats of one day (UTC) only the one counts that announced the most, at its earliest time, so that
 * a sender of which nothing but heartbeats arrives adds one entry a day.
 */

/** In the order of the times, and of the numbers: a later one that announces no more says nothing new. */
export type Announced = readonly [number: number, at: string];

const DAY_CHARACTERS = "2026-11-20".length;
const dayOf = ([, at]: Announced): string => at.slice(0, DAY_CHARACTERS);

/** `at` is a time as text that sorts. */
export const withAnnounced = (
  announced: readonly Announced[],
  number: number,
  at: string,
): readonly Announced[] => {
  const said: Announced = [number, at];
  const known = announced.find((other) => dayOf(other) === dayOf(said));
  if (known && (known[0] > number || (known[0] === number && known[1] <= at))) return announced;
  const all = [...announced.filter((other) => other !== known), said];
  all.sort(([, one], [, other]) => (one < other ? -1 : 1));
  let highest = 0;
  return all.filter(([each]) => {
    const isNews = each > highest;
    highest = Math.max(highest, each);
    return isNews;
  });
};

/** Those that announce a number behind the last one that came. */
export const beyond = (announced: readonly Announced[], last: number): readonly Announced[] =>
  announced.filter(([number]) => number > last);
