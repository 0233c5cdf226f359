/**
 * The input of an import as batches: what has arrived is sent at once, in full batches where it comes fast. The text of an event is not changed. It
 * is parsed only so that no line can break, or add to, the batch that it becomes part of.
 */
import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { PassThrough, pipeline, type Readable } from "node:stream";
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import type { Context } from "../context.ts";
import { failure, Interrupted, reasonOf } from "../failure.ts";
import { asRecord, parseJson } from "../json.ts";
import { SEND_BATCH_CHARACTERS_MAX, SEND_CHUNK_BYTES, SEND_LINE_BYTES_MAX } from "../limits.ts";
import type { Rejection, SentEvent } from "./batch-sender.ts";

export interface SendInput {
  /** In bytes; undefined for a pipe. */
  readonly size: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export const openInput = (path: string | undefined, context: Context): SendInput => {
  const { input } = context;
  if (path !== undefined && path !== "-") {
    const stat = statSync(path, { throwIfNoEntry: false });
    const size = stat?.isFile() ? stat.size : undefined;
    return {
      size,
      chunks: chunksOf(createReadStream(path, { highWaterMark: SEND_CHUNK_BYTES }), path, context),
    };
  }
  if (!input.isTerminal) return { size: undefined, chunks: chunksOf(input.stream, "The input", context) };
  throw failure(
    "wrong_use",
    "Nothing to send: name a file, or pipe events in.",
    "prooftrail send events.ndjson",
  );
};

/**
 * Each chunk is what has arrived while the one before was sent. Before the first one Ctrl-C ends the program at once: nothing else would end the wait
 * for the writer of a named pipe.
 */
async function* chunksOf(
  source: Readable,
  name: string,
  { interruption }: Context,
): AsyncGenerator<Uint8Array> {
  const arrived = new PassThrough({ highWaterMark: SEND_CHUNK_BYTES });
  pipeline(source, arrived, () => {});
  let signal: AbortSignal | undefined;
  try {
    for await (const first of arrived) {
      if (!signal) {
        signal = interruption();
        signal.addEventListener("abort", () => arrived.destroy(), { once: true });
      }
      const parts: Uint8Array[] = [first];
      for (let next = arrived.read(); next !== null; next = arrived.read()) parts.push(next);
      yield Buffer.concat(parts);
    }
  } catch (error) {
    if (!signal?.aborted) throw failure("unreadable_file", `${name} cannot be read: ${reasonOf(error)}.`);
  } finally {
    arrived.destroy();
  }
  if (signal?.aborted) throw new Interrupted();
}

/** A line: an event, or why it is none. */
export type Entry = SentEvent | Rejection;

/** How far an input is read: its lines, and the hash of all of them. */
export interface Place {
  readonly line: number;
  readonly sha256: string;
}

export interface Batch extends Place {
  readonly entries: readonly Entry[];
  /** Bytes of the input up to the end of the batch. */
  readonly bytes: number;
}

/** `from`: where an earlier run stopped. Throws a Failure if the input does not begin with what that run read. */
export async function* readBatches(chunks: AsyncIterable<Uint8Array>, from?: Place): AsyncGenerator<Batch> {
  const hash = createHash("sha256");
  const digest = (): string => hash.copy().digest("hex");
  let [line, bytes] = [0, 0];
  for await (const lines of linesOf(chunks)) {
    let entries: Entry[] = [];
    let characters = 0;
    for (const read of lines) {
      line++;
      bytes += (read?.length ?? SEND_LINE_BYTES_MAX) + 1;
      hash.update(read ?? "").update("\n");
      if (from && line <= from.line) {
        if (line === from.line && digest() !== from.sha256)
          throw anotherInput("The input does not begin with what the resume point was written for.");
        continue;
      }
      const entry = entryOf(read, line);
      if (!entry) continue;
      entries.push(entry);
      // A character of a JavaScript string has at most three bytes in UTF-8, and the service accepts four times as much.
      characters += entry.text?.length ?? 0;
      if (entries.length < BATCH_EVENTS_MAX && characters < SEND_BATCH_CHARACTERS_MAX) continue;
      yield { entries, line, bytes, sha256: digest() };
      [entries, characters] = [[], 0];
    }
    if (entries.length > 0) yield { entries, line, bytes, sha256: digest() };
  }
  if (from && line < from.line)
    throw anotherInput(`The resume point is after line ${from.line}, but the input ends before it.`);
}

const anotherInput = (detail: string) =>
  failure("another_input", detail, "Send the same input, or name another file with --resume.");

/** Undefined for a line that is longer than any event, which is not held. */
type Line = Uint8Array | undefined;

/** The lines that end in each chunk, without their line feed. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  const hold = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes <= SEND_LINE_BYTES_MAX) held.push(part);
    else held = [];
  };
  const take = (): Line => {
    const line = bytes <= SEND_LINE_BYTES_MAX ? Buffer.concat(held) : undefined;
    [held, bytes] = [[], 0];
    return line;
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let to = chunk.indexOf(0x0a); to >= 0; to = chunk.indexOf(0x0a, from)) {
      hold(chunk.subarray(from, to));
      lines.push(take());
      from = to + 1;
    }
    hold(chunk.subarray(from));
    yield lines;
  }
  if (bytes > 0) yield [take()];
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const entryOf = (bytes: Line, line: number): Entry | undefined => {
  const broken = (code: string, message: string): Rejection => ({ line, code, message, errors: [] });
  if (!bytes) return broken("payload_too_large", "The line is longer than any event may be.");
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return broken("invalid_utf8", "The line is not valid UTF-8.");
  }
  // A byte order mark belongs to the file and not to its first event.
  if (line === 1) text = text.replace(/^\ufeff/, "");
  // The white space of JSON (RFC 8259 §2), and no other.
  if (/^[ \t\r]*$/.test(text)) return undefined;
  if (parseJson(text) !== undefined) return { line, text };
  const filter = text.trimStart().startsWith("[") ? ".[]" : ".";
  return broken(
    "invalid_json",
    `The line is not one JSON value: put one event per line. Convert other JSON to lines: jq -c ${filter}`,
  );
};

/** Inserts missing members at the beginning of an event; the rest of its text stays as it is. */
export const fillEvent = (
  text: string,
  make: { readonly eventId: () => string; readonly timestamp: () => string },
): string => {
  const event = asRecord(parseJson(text));
  if (!event) return text;
  const missing = {
    ...(event.event_id === undefined && { event_id: make.eventId() }),
    ...(event.timestamp === undefined && { timestamp: make.timestamp() }),
  };
  if (Object.keys(missing).length === 0) return text;
  const comma = Object.keys(event).length === 0 ? "" : ",";
  return `${JSON.stringify(missing).slice(0, -1)}${comma}${text.slice(text.indexOf("{") + 1)}`;
};
