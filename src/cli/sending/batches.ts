/** Collects entries into batches: full ones while input comes fast, what is there while it comes slowly. */
import { setTimeout as delay } from "node:timers/promises";
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import { SEND_BATCH_CHARACTERS_MAX, SEND_LINE_BYTES_MAX, SEND_LINGER_MS } from "../limits.ts";
import { createLineSplitter } from "./line-splitter.ts";
import { createEntryReader, type Entry } from "./read-entries.ts";

export interface Batch {
  readonly entries: readonly Entry[];
  /** Where the input continues after the batch. */
  readonly offset: number;
  readonly line: number;
}

export async function* readBatches(
  chunks: AsyncIterable<Uint8Array>,
  start: { readonly offset: number; readonly line: number },
): AsyncGenerator<Batch> {
  const splitter = createLineSplitter(start, SEND_LINE_BYTES_MAX);
  const reader = createEntryReader({ isAtStart: start.offset === 0, objectBytesMax: SEND_LINE_BYTES_MAX });
  const gathering = createGathering(start);
  const iterator = chunks[Symbol.asyncIterator]();
  let next = iterator.next();
  for (;;) {
    const got = gathering.isEmpty() ? await next : await orLinger(next);
    if (got === "lingered") {
      yield gathering.take();
      continue;
    }
    if (got.done) break;
    yield* gathering.add(reader.push(splitter.push(got.value)));
    next = iterator.next();
  }
  yield* gathering.add([...reader.push(splitter.finish()), ...reader.finish()]);
  if (!gathering.isEmpty()) yield gathering.take();
}

const orLinger = async <Value>(next: Promise<Value>): Promise<Value | "lingered"> => {
  const waiting = new AbortController();
  const lingered = delay(SEND_LINGER_MS, "lingered" as const, { signal: waiting.signal });
  lingered.catch(() => {});
  try {
    return await Promise.race([next, lingered]);
  } finally {
    waiting.abort();
  }
};

const createGathering = (start: { readonly offset: number; readonly line: number }) => {
  let place = start;
  let entries: Entry[] = [];
  let events = 0;
  let characters = 0;
  const take = (): Batch => {
    const batch = { entries, ...place };
    entries = [];
    events = 0;
    characters = 0;
    return batch;
  };
  return {
    isEmpty: () => entries.length === 0,
    take,
    *add(more: readonly Entry[]): Generator<Batch> {
      for (const entry of more) {
        entries.push(entry);
        place = { offset: entry.end, line: entry.endLine };
        if (entry.kind === "event") {
          events++;
          // A character of a JavaScript string has at most three bytes in UTF-8, and the service accepts four times as much.
          characters += entry.text.length;
        }
        // Lines without an event count as well: a file with only blank lines must not be held in memory.
        if (
          events >= BATCH_EVENTS_MAX ||
          characters >= SEND_BATCH_CHARACTERS_MAX ||
          entries.length >= 10 * BATCH_EVENTS_MAX
        )
          yield take();
      }
    },
  };
};
