/** A file that is whole or not there: written under another name, fsynced, and given its name when the transfer has ended properly. */
import { randomUUID } from "node:crypto";
import { lstat, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { missingAs, syncFolderIfReadable } from "../files/durable-file.ts";
import { describeNetworkError } from "./api.ts";
import type { OptionSpec } from "./command.ts";
import type { Writer } from "./context.ts";
import { Failure, failure, Interrupted, reasonOf } from "./failure.ts";

export const FORCE_OPTION: OptionSpec = { flag: "--force", description: "replace the file if it is there" };

interface DownloadOptions {
  readonly response: Response;
  readonly signal: AbortSignal;
  readonly onBytes: (chunk: Uint8Array) => void;
}

/**
 * The body to a writer. It is told to be broken where it does not end as HTTP says it must (RFC 9112 §8): fetch rejects then, for a length that is
 * not reached as for a last chunk that is missing (measured on Bun 1.4.5). Ends quietly when nobody reads any more. `print`: what makes it text that steers no
 * terminal, where it goes to one.
 */
export const downloadTo = async (
  out: Writer,
  { print, ...options }: DownloadOptions & { readonly print: (part: string) => string },
): Promise<void> => {
  const decoder = new TextDecoder();
  for await (const chunk of chunks(options, "Ask again: what was written so far is not all of it.")) {
    await out.write(out.isTerminal ? print(decoder.decode(chunk, { stream: true })) : chunk);
    if (!out.isHeard()) break;
  }
};

export interface Target extends AsyncDisposable {
  /** Throws a Failure or Interrupted, and leaves nothing then. */
  fill(options: DownloadOptions): Promise<void>;
}

/**
 * Before anything is asked for: an export that is in the log and then has no place would be one for nothing. Ctrl-C has to come as Interrupted from here on, or
 * it leaves the beginning.
 */
export const openTarget = async (path: string, isForced: boolean): Promise<Target> => {
  const cannot = (error: unknown): never => {
    throw error instanceof Failure
      ? error
      : failure("unreadable_file", `${path} cannot be written: ${reasonOf(error)}.`);
  };
  if (path === "" || path.endsWith("/"))
    throw failure("unreadable_file", `"${path}" is no name of a file.`, "Name a file.");
  // A link to nothing is there as well.
  const found = await stat(path)
    .catch(missingAs(undefined))
    .then((file) => file ?? lstat(path).catch(missingAs(undefined)))
    .catch(cannot);
  if (found && !found.isFile())
    throw failure("unreadable_file", `${path} is there already, and is no file.`, "Name another file.");
  const isThere = failure(
    "unreadable_file",
    `${path} is there already.`,
    "Name another file, or give --force.",
  );
  if (found && !isForced) throw isThere;
  const folder = dirname(path);
  // Not made of its name, which may be as long as a name can be.
  const partial = join(folder, `.prooftrail-${randomUUID()}.partial`);
  const file = await open(partial, "wx", OWNER_ONLY).catch(cannot);
  /** Somebody may have made it meanwhile. Not by a second link to the partial one: some sticks and shares have none. */
  const claimName = async (): Promise<void> => {
    const claimed = await open(path, "wx", OWNER_ONLY).catch((error: unknown) => {
      throw error instanceof Error && "code" in error && error.code === "EEXIST" ? isThere : error;
    });
    await claimed.close();
  };
  const finish = async (): Promise<void> => {
    await file.sync();
    if (!isForced) await claimName();
    await rename(partial, path).catch(async (error: unknown) => {
      if (!isForced) await rm(path, { force: true });
      throw error;
    });
    await syncFolderIfReadable(folder);
  };
  return {
    fill: async (options) => {
      for await (const chunk of chunks(options, "Ask again. What has come so far was not kept."))
        await file.writeFile(chunk).catch(cannot);
      await finish().catch(cannot);
    },
    [Symbol.asyncDispose]: async () => {
      await file.close();
      // It is not there any more where it got its name.
      await rm(partial, { force: true });
    },
  };
};

const OWNER_ONLY = 0o600;

async function* chunks(
  { response, signal, onBytes }: DownloadOptions,
  adviceWhenBroken: string,
): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw signal.aborted ? new Interrupted() : broken(error, adviceWhenBroken);
      });
      if (signal.aborted) throw new Interrupted();
      if (done) return;
      onBytes(value);
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

const broken = (error: unknown, advice: string) =>
  failure(
    "broken_transfer",
    `The service broke the transfer off before its end: ${describeNetworkError(error)}.`,
    advice,
  );
