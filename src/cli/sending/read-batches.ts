/**
 * Reads NDJSON into batches: full ones while input comes fast, what is there while it comes slowly. The text of an event is not changed. It is parsed
 * only to check that it is one JSON value, so that no line can break, or add to, the batch that it becomes part of.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import { failure } from "../failure.ts";
import { parseJson } from "../json.ts";
import { SEND_BATCH_CHARACTERS_MAX, SEND_LINE_BYTES_MAX, SEND_LINGER_MS } from "../limits.ts";

export type Entry = {
  /** Counted from 1. */
  readonly line: number;
} & (
  | { readonly kind: "event"; readonly text: string }
  | { readonly kind: "broken"; readonly code: string; readonly message: string }
);

/** How far an input is read: its lines, and the hash of all of them. */
export interface Place {
  readonly line: number;
  readonly sha256: string;
}

export interface Batch extends Place {
  readonly entries: readonly Entry[];
}

/** `from`: where an earlier run stopped. Throws a Failure if the input does not begin with what that run read. */
export async function* readBatches(chunks: AsyncIterable<Uint8Array>, from?: Place): AsyncGenerator<Batch> {
  const splitter = createLineSplitter();
  const hash = createHash("sha256");
  const digest = (): string => hash.copy().digest("hex");
  let line = 0;
  let entries: Entry[] = [];
  let characters = 0;
  const take = (): Batch => {
    const batch = { entries, line, sha256: digest() };
    entries = [];
    characters = 0;
    return batch;
  };
  function* add(lines: Iterable<Uint8Array | undefined>): Generator<Batch> {
    for (const bytes of lines) {
      line++;
      hash.update(bytes ?? "").update("\n");
      if (from && line <= from.line) {
        if (line === from.line && digest() !== from.sha256)
          throw anotherInput("The input does not begin with what the resume point was written for.");
        continue;
      }
      const entry = entryOf(bytes, line);
      if (!entry) continue;
      entries.push(entry);
      // A character of a JavaScript string has at most three bytes in UTF-8, and the service accepts four times as much.
      if (entry.kind === "event") characters += entry.text.length;
      if (entries.length >= BATCH_EVENTS_MAX || characters >= SEND_BATCH_CHARACTERS_MAX) yield take();
    }
  }
  const iterator = chunks[Symbol.asyncIterator]();
  let next = iterator.next();
  for (;;) {
    const got = entries.length === 0 ? await next : await orLinger(next);
    if (got === "lingered") {
      yield take();
      continue;
    }
    if (got.done) break;
    yield* add(splitter.push(got.value));
    next = iterator.next();
  }
  yield* add(splitter.finish());
  if (from && line < from.line)
    throw anotherInput(`The resume point is behind line ${from.line}, and the input ends before it.`);
  if (entries.length > 0) yield take();
}

const anotherInput = (detail: string) =>
  failure("another_input", detail, "Send the same input, or name another file with --resume.");

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

/** Lines without their line feed; undefined for one that is longer than any event, which is not held. */
const createLineSplitter = () => {
  let held: Uint8Array[] = [];
  let bytes = 0;
  const hold = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes <= SEND_LINE_BYTES_MAX) held.push(part);
    else held = [];
  };
  const take = (): Uint8Array | undefined => {
    const line = bytes <= SEND_LINE_BYTES_MAX ? Buffer.concat(held) : undefined;
    held = [];
    bytes = 0;
    return line;
  };
  return {
    *push(chunk: Uint8Array): Generator<Uint8Array | undefined> {
      let from = 0;
      for (let to = chunk.indexOf(0x0a); to >= 0; to = chunk.indexOf(0x0a, from)) {
        hold(chunk.subarray(from, to));
        yield take();
        from = to + 1;
      }
      hold(chunk.subarray(from));
    },
    finish: () => (bytes > 0 ? [take()] : []),
  };
};

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined for a blank line. */
const entryOf = (bytes: Uint8Array | undefined, line: number): Entry | undefined => {
  const broken = (code: string, message: string) => ({ kind: "broken", line, code, message }) as const;
  if (!bytes) return broken("payload_too_large", "The line is longer than any event may be.");
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return broken("invalid_utf8", "The line holds bytes that are no UTF-8 text.");
  }
  // A byte order mark belongs to the file and not to its first event.
  if (line === 1) text = text.replace(/^\ufeff/, "");
  // The white space of JSON (RFC 8259 §2), and no other.
  if (/^[ \t\r]*$/.test(text)) return undefined;
  if (parseJson(text) !== undefined) return { kind: "event", line, text };
  const filter = text.trimStart().startsWith("[") ? ".[]" : ".";
  return broken(
    "invalid_json",
    `The line is not one JSON value: one event stands on one line. Of other JSON make lines: jq -c ${filter}`,
  );
};
