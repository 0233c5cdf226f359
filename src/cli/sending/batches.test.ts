import { expect, test } from "bun:test";
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import { SEND_BATCH_CHARACTERS_MAX } from "../limits.ts";
import { type Batch, readBatches } from "./batches.ts";

const batchesOf = async (lines: readonly string[]): Promise<readonly Batch[]> => {
  async function* chunks() {
    yield new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  }
  return Array.fromAsync(readBatches(chunks(), { offset: 0, line: 0 }));
};

test("a batch ends where it has as many events, or characters, as the service takes, and says where the input goes on", async () => {
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

test("lines without an event end a batch as well: a file of nothing but those is not held", async () => {
  const blank = await batchesOf(Array.from({ length: 25 * BATCH_EVENTS_MAX }, () => ""));
  expect(blank.map(({ entries }) => entries.length)).toEqual([10, 10, 5].map((n) => n * BATCH_EVENTS_MAX));
});
