/** A file that is whole or not there: written under another name, fsynced, and given its name when the transfer has ended properly. */
import { access, constants, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { syncFolder } from "../access/durable-file.ts";
import { describeNetworkError } from "./api.ts";
import type { OptionSpec } from "./command.ts";
import type { Writer } from "./context.ts";
import { failure, Interrupted, reasonOf } from "./failure.ts";

export const FORCE_OPTION: OptionSpec = { flag: "--force", description: "replace the file if it is there" };

export interface DownloadOptions {
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

/** Before anything is asked for: an export that is in the log and then has no place would be one for nothing. */
export const checkTarget = async (path: string, isForced: boolean): Promise<void> => {
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw failure("unreadable_file", `${path} cannot be written: ${reasonOf(error)}.`);
  });
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isFile())
    throw failure("unreadable_file", `${path} is there already, and is no file.`, "Name another file.");
  if (found && !isForced)
    throw failure("unreadable_file", `${path} is there already.`, "Name another file, or give --force.");
};

/** Throws a Failure or Interrupted, and leaves nothing then. */
export const downloadFile = async (path: string, options: DownloadOptions): Promise<void> => {
  const folder = dirname(path);
  const partial = join(folder, `.${basename(path)}.partial-${process.pid}`);
  try {
    const file = await open(partial, "w", 0o600);
    try {
      for await (const chunk of chunks(options, "Ask again. What has come so far was not kept."))
        await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path);
    await syncFolder(folder);
  } catch (error) {
    await rm(partial, { force: true });
    if (error instanceof Error && "syscall" in error)
      throw failure("unreadable_file", `${path} cannot be written: ${reasonOf(error)}.`);
    throw error;
  }
};

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
