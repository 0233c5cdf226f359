/**
 * The input of an import as batches: full ones while input comes fast, what is there while it comes slowly. The text of an event is not changed. It
 * is parsed only so that no line can break, or add to, the batch that it becomes part of.
 */
import { createHash } from "node:crypto";
import { closeSync, createReadStream, fstatSync, open } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import type { Context } from "../context.ts";
import { failure, Interrupted, reasonOf } from "../failure.ts";
import { asRecord, parseJson } from "../json.ts";
import { SEND_BATCH_CHARACTERS_MAX, SEND_LINE_BYTES_MAX, SEND_LINGER_MS } from "../limits.ts";

export interface InputFile extends Disposable {
  /** Undefined for a stream. */
  readonly size: number | undefined;
  bytesRead(): number;
  chunks(): AsyncIterable<Uint8Array>;
}

/**
 * `interruption` is called only after opening: a named pipe waits for its writer, and only the end of the program ends that wait. A number instead
 * of a FileHandle: Bun 1.4.5 reports an error when one is collected that its stream has closed (measured).
 */
export const openInput = async (
  path: string | undefined,
  { input, interruption }: Context,
): Promise<InputFile> => {
  if (path === undefined || path === "-") {
    if (!input.isTerminal) return inputOf(input.stream, undefined, interruption());
    throw failure(
      "wrong_use",
      "Nothing to send: name a file, or pipe events in.",
      "prooftrail send events.ndjson",
    );
  }
  const cannot = (reason: string) => failure("unreadable_file", `${path} cannot be read: ${reason}.`);
  const fd = await promisify(open)(path, "r").catch((error: unknown) => {
    throw cannot(reasonOf(error));
  });
  const stat = fstatSync(fd);
  if (stat.isDirectory()) {
    closeSync(fd);
    throw cannot("it is a folder");
  }
  return inputOf(createReadStream(path, { fd }), stat.isFile() ? stat.size : undefined, interruption());
};

const inputOf = (stream: Readable, size: number | undefined, signal: AbortSignal): InputFile => {
  let bytesRead = 0;
  const stop = (): void => void stream.destroy();
  signal.addEventListener("abort", stop, { once: true });
  return {
    size,
    bytesRead: () => bytesRead,
    async *chunks() {
      try {
        for await (const chunk of stream) {
          bytesRead += chunk.length;
          yield chunk;
        }
      } catch (error) {
        if (!signal.aborted)
          throw failure("unreadable_file", `The input cannot be read on: ${reasonOf(error)}.`);
      }
      if (signal.aborted) throw new Interrupted();
    },
    [Symbol.dispose]: () => {
      signal.removeEventListener("abort", stop);
      stop();
    },
  };
};

export type Entry = {
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
  for await (const bytes of lingering(linesOf(chunks), () => entries.length > 0)) {
    if (bytes === "lingered") {
      yield take();
      continue;
    }
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
  if (from && line < from.line)
    throw anotherInput(`The resume point is behind line ${from.line}, and the input ends before it.`);
  if (entries.length > 0) yield take();
}

const anotherInput = (detail: string) =>
  failure("another_input", detail, "Send the same input, or name another file with --resume.");

type Line = Uint8Array | undefined;

/** All lines, and `lingered` when something waits and the next lines do not come in time. */
async function* lingering(
  lines: AsyncGenerator<readonly Line[]>,
  isWaiting: () => boolean,
): AsyncGenerator<Line | "lingered"> {
  let next = lines.next();
  for (;;) {
    const got = isWaiting() ? await orLinger(next) : await next;
    if (got === "lingered") yield got;
    else if (got.done) return;
    else {
      yield* got.value;
      next = lines.next();
    }
  }
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

/** The lines that end in each chunk, without their line feed; undefined for one that is longer than any event, which is not held. */
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
    held = [];
    bytes = 0;
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
  const rest = text.slice(text.indexOf("{") + 1);
  const isEmpty = Object.keys(event).length === 0;
  return `${JSON.stringify(missing).slice(0, -1)}${isEmpty ? "" : ","}${rest}`;
};
