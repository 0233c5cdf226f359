/** The input: a file or standard input. */
import { closeSync, createReadStream, fstatSync, open } from "node:fs";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import type { Context } from "../context.ts";
import { failure, Interrupted, reasonOf } from "../failure.ts";

export interface InputFile extends Disposable {
  /** Undefined for a stream. */
  readonly size: number | undefined;
  bytesRead(): number;
  /** May be called once. */
  chunks(): AsyncIterable<Uint8Array>;
}

/**
 * `-` or nothing means standard input. `interruption` is called only after opening: a named pipe waits for its writer, and only the end of the program
 * ends that wait. The file is opened as a number instead of a FileHandle: when a FileHandle that its stream has closed is collected, Bun reports the
 * closing as an error (measured on 1.4.5).
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
