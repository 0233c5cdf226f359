/** The input: a file or standard input, read from a given offset, with its first bytes kept. */
import { closeSync, createReadStream, fstatSync, open, readSync } from "node:fs";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import type { Context } from "../context.ts";
import { failure, Interrupted, reasonOf } from "../failure.ts";
import { RESUME_FINGERPRINT_BYTES } from "../limits.ts";

export interface InputFile extends Disposable {
  /** Undefined for a stream. */
  readonly size: number | undefined;
  /** Up to RESUME_FINGERPRINT_BYTES, as far as they were read. */
  head(): Uint8Array;
  /** May be called once. Throws a Failure if the input ends before `offset`. */
  chunksFrom(offset: number): AsyncIterable<Uint8Array>;
}

/** `-` or nothing means standard input. */
export const openInput = async (
  path: string | undefined,
  { input, interruption }: Context,
): Promise<InputFile> => {
  if (path !== undefined && path !== "-") return openFile(path, interruption);
  if (input.isTerminal)
    throw failure(
      "wrong_use",
      "Nothing to send: name a file, or pipe events in.",
      "prooftrail send events.ndjson",
    );
  return streamInput(input.stream, {
    size: undefined,
    head: new Uint8Array(),
    signal: interruption(),
    skipped: 0,
  });
};

/**
 * `interruption` is called only after opening: a named pipe waits for its writer, and only the end of the program ends that wait. The file is opened
 * as a number instead of a FileHandle: when a FileHandle that its stream has closed is collected, Bun reports the closing as an error (measured on
 * 1.4.5).
 */
const openFile = async (path: string, interruption: Context["interruption"]): Promise<InputFile> => {
  const cannot = (error: unknown) =>
    failure("unreadable_file", `${path} cannot be read: ${reasonOf(error)}.`);
  const fd = await promisify(open)(path, "r").catch((error: unknown) => {
    throw cannot(error);
  });
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) throw new Error("it is a folder");
    const signal = interruption();
    // A named pipe has no size and cannot be rewound; opening it again would wait for another writer.
    if (!stat.isFile())
      return streamInput(createReadStream(path, { fd }), {
        size: undefined,
        head: new Uint8Array(),
        signal,
        skipped: 0,
      });
    const head = new Uint8Array(RESUME_FINGERPRINT_BYTES);
    const bytesRead = readSync(fd, head, 0, head.length, 0);
    const known = { size: stat.size, head: head.subarray(0, bytesRead), signal };
    let opened: InputFile | undefined;
    return {
      size: stat.size,
      head: () => known.head,
      chunksFrom: (offset) => {
        if (offset > stat.size) throw tooShort(offset);
        // Reads the file whose beginning was read, whatever file has that name by now.
        opened = streamInput(createReadStream(path, { fd, start: offset }), { ...known, skipped: offset });
        return opened.chunksFrom(offset);
      },
      [Symbol.dispose]: () => (opened ? opened[Symbol.dispose]() : closeSync(fd)),
    };
  } catch (error) {
    closeSync(fd);
    throw cannot(error);
  }
};

const tooShort = (offset: number) =>
  failure("another_input", `The resume point is at byte ${offset}, and the input ends before it.`);

const streamInput = (
  stream: Readable,
  parts: {
    readonly size: number | undefined;
    readonly head: Uint8Array;
    readonly signal: AbortSignal;
    /** Bytes before the beginning of the stream. */
    readonly skipped: number;
  },
): InputFile => {
  const { size, signal, skipped } = parts;
  let { head } = parts;
  const stop = (): void => void stream.destroy();
  signal.addEventListener("abort", stop, { once: true });
  async function* chunksFrom(offset: number): AsyncGenerator<Uint8Array> {
    let left = offset - skipped;
    try {
      for await (const chunk of stream) {
        const bytes: Uint8Array = chunk;
        if (skipped === 0 && head.length < RESUME_FINGERPRINT_BYTES && size === undefined)
          head = Buffer.concat([head, bytes]).subarray(0, RESUME_FINGERPRINT_BYTES);
        const passed = Math.min(left, bytes.length);
        left -= passed;
        if (passed < bytes.length) yield bytes.subarray(passed);
      }
    } catch (error) {
      if (signal.aborted) throw new Interrupted();
      throw failure("unreadable_file", `The input cannot be read on: ${reasonOf(error)}.`);
    }
    if (signal.aborted) throw new Interrupted();
    if (left > 0) throw tooShort(offset);
  }
  return {
    size,
    head: () => head,
    chunksFrom,
    [Symbol.dispose]: () => {
      signal.removeEventListener("abort", stop);
      stop();
    },
  };
};
