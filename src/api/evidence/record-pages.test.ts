import { expect, test } from "bun:test";
import { EVIDENCE_READS_AT_ONCE, EVIDENCE_STRETCH_RECORDS, LOG_FOLLOWED_BYTES_MAX } from "../../limits.ts";
import { LogUnavailableError } from "../../log/event-log.ts";
import { type RecordReader, recordPages } from "./record-pages.ts";

const message = (sequence: number) => ({
  sequence,
  subject: "audit",
  payload: new Uint8Array([sequence % 251, sequence >> 8]),
});
const upTo = (count: number, step = 1, from = 1) =>
  Array.from({ length: count }, (_, index) => from + index * step);

/** A log that records how it was asked. A follower waits for more until it stops. */
const logOf = (sequences: readonly number[]) => {
  const messages = sequences.map(message);
  const reads: number[] = [];
  const signals: AbortSignal[] = [];
  const bounds: (number | undefined)[] = [];
  let [reading, readingMax, following] = [0, 0, 0];
  return {
    reads,
    signals,
    bounds,
    readingMax: () => readingMax,
    following: () => following,
    read: async (sequence: number) => {
      reads.push(sequence);
      readingMax = Math.max(readingMax, ++reading);
      await Promise.resolve();
      reading--;
      return messages.find((one) => one.sequence === sequence);
    },
    follow: async function* ({ from, messagesMax, bytesMax, signal }: Parameters<RecordReader["follow"]>[0]) {
      signals.push(signal);
      bounds.push(bytesMax);
      following++;
      try {
        const there = messages.filter(({ sequence }) => sequence >= from);
        for (let next = 0; next < there.length; next += messagesMax)
          yield there.slice(next, next + messagesMax);
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      } finally {
        following--;
      }
    },
  };
};

const read = async (log: RecordReader, sequences: readonly number[]) => {
  const found = [];
  for await (const page of recordPages(
    log,
    sequences.map((sequence) => ({ sequence })),
  ))
    for (const { record, payload } of page) found.push({ sequence: record.sequence, payload });
  return found;
};

const expected = (sequences: readonly number[]) =>
  sequences.map(message).map(({ sequence, payload }) => ({ sequence, payload }));

test("records close together are followed, others are read in stretches, and each comes once and in order", async () => {
  const dense = upTo(EVIDENCE_STRETCH_RECORDS, 2);
  const sparse = upTo(EVIDENCE_STRETCH_RECORDS, 30, 2_500);
  // The last one stands alone.
  const last = 40_000;
  const log = logOf([...upTo(2_400), ...sparse, last]);
  const asked = [...dense, ...sparse, last];
  expect(await read(log, asked)).toEqual(expected(asked));
  expect(log.reads).toEqual([...sparse, last]);
  expect(log.readingMax()).toBe(EVIDENCE_READS_AT_ONCE);
  expect([log.signals.map(({ aborted }) => aborted), log.following()]).toEqual([[true], 0]);
});

test("a record that is missing in the log is an error, however it is looked for", async () => {
  for (const asked of [upTo(9), upTo(9, 100)]) {
    const log = logOf(asked.filter((_, index) => index !== 4));
    await expect(read(log, asked)).rejects.toThrow(`the log has no record at sequence ${asked[4]}`);
    expect(log.signals.every(({ aborted }) => aborted)).toBe(true);
  }
});

test("the log is no longer followed when the reader stops", async () => {
  const log = logOf(upTo(9));
  for await (const _ of recordPages(
    log,
    upTo(9).map((sequence) => ({ sequence })),
  ))
    break;
  expect([log.signals.map(({ aborted }) => aborted), log.following()]).toEqual([[true], 0]);
});

test("the wait ends if the log gives no more", async () => {
  async function* follow() {
    yield upTo(4).map(message);
  }
  await expect(read({ ...logOf(upTo(4)), follow }, upTo(9))).rejects.toThrow(LogUnavailableError);
});

test("each bundle asks for a bounded number of bytes, so that all bundles together do not make the broker cut the connection", async () => {
  const log = logOf(upTo(100));
  await read(log, upTo(100));
  expect(log.bounds).toEqual([LOG_FOLLOWED_BYTES_MAX]);
});
