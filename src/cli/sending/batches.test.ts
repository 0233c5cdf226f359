import { expect, test } from "bun:test";
import fc from "fast-check";
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import { SEND_BATCH_CHARACTERS_MAX } from "../limits.ts";
import { type Batch, readBatches } from "./batches.ts";

const batchesOf = async (lines: readonly string[]): Promise<readonly Batch[]> => {
  async function* chunks() {
    yield new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  }
  return Array.fromAsync(readBatches(chunks(), { offset: 0, line: 0 }));
};

test("a batch ends at the service's limit of events or characters, and says where the input continues", async () => {
  const small = await batchesOf(Array.from({ length: BATCH_EVENTS_MAX + 1 }, () => "{}"));
  expect(small.map(({ entries, line }) => [entries.length, line])).toEqual([
    [BATCH_EVENTS_MAX, BATCH_EVENTS_MAX],
    [1, BATCH_EVENTS_MAX + 1],
  ]);
  const large = JSON.stringify({ text: "x".repeat(200_000) });
  const inOne = Math.ceil(SEND_BATCH_CHARACTERS_MAX / large.length);
  const big = await batchesOf(Array.from({ length: 2 * inOne + 1 }, () => large));
  expect(big.map(({ entries, offset }) => [entries.length, offset / (large.length + 1)])).toEqual([
    [inOne, inOne],
    [inOne, 2 * inOne],
    [1, 2 * inOne + 1],
  ]);
});

test("lines without an event also end a batch, so that a file of only such lines is not held in memory", async () => {
  const blank = await batchesOf(Array.from({ length: 25 * BATCH_EVENTS_MAX }, () => ""));
  expect(blank.map(({ entries }) => entries.length)).toEqual([10, 10, 5].map((n) => n * BATCH_EVENTS_MAX));
});

test("reading from behind any entry gives the entries that follow, with the same places and lines", async () => {
  const line = fc.oneof(
    fc.json().map((text) => text.replaceAll("\n", " ")),
    fc.constantFrom("", " ", "{bad", "\r", "é한", '{"a":1}'),
  );
  const some = { lines: fc.array(line, { maxLength: 10 }), isEnded: fc.boolean(), pick: fc.nat({ max: 20 }) };
  await fc.assert(
    fc.asyncProperty(fc.record(some), async ({ lines, isEnded, pick }) => {
      const bytes = new TextEncoder().encode(['{"first":1}', ...lines].join("\n") + (isEnded ? "\n" : ""));
      const entriesFrom = async (start: { readonly offset: number; readonly line: number }) => {
        async function* chunks() {
          yield bytes.subarray(start.offset);
        }
        return (await Array.fromAsync(readBatches(chunks(), start))).flatMap(({ entries }) => entries);
      };
      const whole = await entriesFrom({ offset: 0, line: 0 });
      const index = pick % whole.length;
      const place = { offset: whole[index]?.end ?? 0, line: whole[index]?.endLine ?? 0 };
      expect(await entriesFrom(place)).toEqual(whole.slice(index + 1));
    }),
  );
});
