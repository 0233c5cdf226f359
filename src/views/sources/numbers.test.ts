import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Announced,
  beyond,
  type Gap,
  gapAtEnd,
  type Numbers,
  takeNumber,
  withAnnounced,
} from "./numbers.ts";

/** What one event of a source says: that it has this number, or that there are this many events. */
interface Word {
  readonly kind: "number" | "announcement";
  readonly number: number;
  readonly at: string;
}

const anyWords = fc.array(
  fc.record<Word>({
    kind: fc.constantFrom("number", "announcement"),
    number: fc.integer({ min: 1, max: 12 }),
    // Four days with six times each.
    at: fc.integer({ min: 0, max: 23 }).map((time) => new Date(Date.UTC(2027, 1, 1, 4 * time)).toISOString()),
  }),
  { maxLength: 30 },
);

const heard = (words: readonly Word[]) => {
  const numbers: Numbers = { last: 0, received: 0, gaps: [] };
  let announced: readonly Announced[] = [];
  for (const { kind, number, at } of words) {
    if (kind === "number") takeNumber(numbers, number, at);
    else announced = withAnnounced(announced, number, at);
    announced = beyond(announced, numbers.last);
  }
  const { received, gaps, last } = numbers;
  return {
    announced,
    received,
    gaps: [...gaps, gapAtEnd(last, announced)].filter((gap) => gap !== undefined),
  };
};

const earliest = (words: readonly Word[]): string => words.map(({ at }) => at).sort()[0] ?? "";

/** The same result from the whole set, number by number. */
const gapsOf = (words: readonly Word[]): readonly Gap[] => {
  const came = (number: number): readonly Word[] =>
    words.filter((word) => word.kind === "number" && word.number === number);
  const announcements = words.filter(({ kind }) => kind === "announcement");
  const mostOfItsDay = announcements.filter(({ number, at }) =>
    announcements.every((other) => other.at.slice(0, 10) !== at.slice(0, 10) || other.number <= number),
  );
  const end = Math.max(0, ...words.map(({ number }) => number));
  const gaps: Gap[] = [];
  for (let first = 1; first <= end; first++) {
    if (came(first).length > 0) continue;
    let last = first;
    while (last < end && came(last + 1).length === 0) last++;
    const after = came(last + 1);
    const since = earliest(after.length > 0 ? after : mostOfItsDay.filter(({ number }) => number >= first));
    gaps.push({ first, last, since });
    first = last;
  }
  return gaps;
};

test("missing numbers up to the highest announced one are gaps, whatever arrived first", () => {
  fc.assert(
    fc.property(
      anyWords.chain((words) =>
        fc.tuple(fc.constant(words), fc.shuffledSubarray(words, { minLength: words.length })),
      ),
      ([words, shuffled]) => {
        const { gaps, received } = heard(words);
        expect(gaps).toEqual([...gapsOf(words)]);
        expect(received).toBe(
          new Set(words.filter(({ kind }) => kind === "number").map(({ number }) => number)).size,
        );
        expect(heard(shuffled)).toEqual(heard(words));
      },
    ),
    { numRuns: 300 },
  );
});

test("endless heartbeats of a source whose events never arrive take one entry a day", () => {
  let announced: readonly Announced[] = [];
  for (let hour = 0; hour < 72; hour++)
    announced = withAnnounced(announced, hour + 1, new Date(Date.UTC(2027, 1, 1, hour)).toISOString());
  expect(announced.map(([number]) => number)).toEqual([24, 48, 72]);
});
