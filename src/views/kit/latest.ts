/** What was said last about each of several things, by the time of the events: the result for a set of events is the same in any order of arrival. */

/**
 * A value, the event's time as text that sorts by time, and the event's id, which decides between equal times; of a value that is a time of the event, also
 * when the log received it.
 */
export type Said = readonly [value: string, at: string, eventId: string, recorded?: string];
export type Latest = Readonly<LatestInMaking>;
export type LatestInMaking = Record<string, Said>;

type Ordered = readonly [value: unknown, at: string, eventId: string, recorded?: string];

export const isLater = ([, at, eventId]: Ordered, [, otherAt, otherId]: Ordered): boolean =>
  at > otherAt || (at === otherAt && eventId > otherId);

export const withSaid = (latest: Latest, name: string, said: Said): Latest =>
  isNews(latest[name], said) ? { ...latest, [name]: said } : latest;

/** The same without a copy, for a caller that owns the value. */
export const addSaid = (latest: LatestInMaking, name: string, said: Said): void => {
  if (isNews(latest[name], said)) latest[name] = said;
};

/** What was said first, for a caller that owns the value. */
export const addFirst = (first: LatestInMaking, name: string, said: Said): void => {
  if (isFirst(first[name], said)) first[name] = said;
};

/** Whether it was said earlier than what is known, or nothing is known. */
export const isFirst = (known: Said | undefined, said: Said): boolean =>
  known === undefined || isLater(known, said);

/** Whether it was said later than what is known, or nothing is known. */
export const isNews = (known: Said | undefined, said: Said): boolean =>
  known === undefined || isLater(said, known);

/** Equal knowledge gives equal text, whatever came first. */
export const latestText = (latest: Latest): string =>
  JSON.stringify(
    isInOrder(latest)
      ? latest
      : Object.fromEntries(Object.entries(latest).sort(([one], [other]) => (one < other ? -1 : 1))),
  );

/** The text from which the value was read, until something new is said. */
const isInOrder = (latest: Latest): boolean => {
  let before = "";
  for (const name in latest) {
    if (name < before) return false;
    before = name;
  }
  return true;
};

/** The earlier, or the later, of two times as text that sorts by time. */
export const earlierOf = (one: string, other: string): string => {
  if (one < other) return one;
  return other;
};
export const laterOf = (one: string, other: string): string => {
  if (one > other) return one;
  return other;
};
