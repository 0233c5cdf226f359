/**
 * A downloaded file that is either complete or absent: it is written under another name, fsynced, and renamed when the transfer has ended properly.
 */
import { randomUUID } from "node:crypto";
import { lstat, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { missingAs, syncFolderIfReadable } from "../runtime/durable-file.ts";
import { describeNetworkError, openApi } from "./api.ts";
import type { Input, OptionSpec } from "./command.ts";
import type { Context, Writer } from "./context.ts";
import { Failure, failure, Interrupted, reasonOf } from "./failure.ts";
import { CLI_LONG_ANSWER_MS_MAX } from "./limits.ts";
import { progressFor, type Report } from "./progress.ts";
import { queryFrom } from "./query.ts";

export const FORCE_OPTION: OptionSpec = { flag: "--force", description: "replace the file if it is there" };

interface DownloadOptions {
  readonly response: Response;
  readonly signal: AbortSignal;
  readonly onBytes: (chunk: Uint8Array) => void;
}

/** What a command asks for as a file. */
export interface FileSpec {
  readonly path: string;
  readonly parameters: readonly OptionSpec[];
  readonly mediaType: string;
  readonly progress: { readonly what: string; readonly unit: string };
  /** Called for each piece, with the number of bytes up to its end. */
  readonly report: (chunk: Uint8Array, bytes: number) => Report;
  /** Makes the text harmless if it goes to a terminal. */
  readonly print?: (part: string) => string;
}

/** Writes what the API answers to the file of --output, or to standard output. */
export const download = async (
  input: Input,
  context: Context,
  { path, parameters, mediaType, progress: shown, report, print = (part) => part }: FileSpec,
): Promise<{ readonly bytes: number; readonly headers: Headers }> => {
  const output = input.text("--output");
  const api = await openApi(input, context);
  const signal = context.interruption();
  await using target = output === undefined ? undefined : await openTarget(output, input.isSet("--force"));
  const query = queryFrom(input, parameters);
  const response = await api.open({ path, query, signal, timeoutMs: CLI_LONG_ANSWER_MS_MAX, mediaType });
  // With the file on the same terminal there is no progress bar, because both would share a line.
  const isQuiet = output === undefined && context.out.isTerminal;
  const progress = progressFor(input, context, { ...shown, isQuiet });
  let bytes = 0;
  const onBytes = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    progress.report(report(chunk, bytes));
  };
  try {
    const options = { response, signal, onBytes };
    await (target ? target.fill(options) : copyTo(context.out, { ...options, print }));
  } finally {
    progress.end();
  }
  return { bytes, headers: response.headers };
};

/** Ends quietly when nobody reads any more. */
const copyTo = async (
  out: Writer,
  { print, ...options }: DownloadOptions & { readonly print: (part: string) => string },
): Promise<void> => {
  const decoder = new TextDecoder();
  for await (const chunk of chunks(options, "Ask again: what was written so far is not all of it.")) {
    await out.write(out.isTerminal ? print(decoder.decode(chunk, { stream: true })) : chunk);
    if (!out.isHeard()) break;
  }
};

interface Target extends AsyncDisposable {
  /** Throws a Failure or Interrupted, and then leaves no file. */
  fill(options: DownloadOptions): Promise<void>;
}

/**
 * Prepares the file before the request: an export is recorded in the log, which would be pointless if its file cannot be written. From here on Ctrl-C
 * must arrive as Interrupted, or it would leave a partial file.
 */
const openTarget = async (path: string, isForced: boolean): Promise<Target> => {
  const cannot = (error: unknown): never => {
    throw error instanceof Failure
      ? error
      : failure("unreadable_file", `${path} cannot be written: ${reasonOf(error)}.`);
  };
  if (path === "" || path.endsWith("/"))
    throw failure("unreadable_file", `"${path}" is no name of a file.`, "Name a file.");
  // A link to nothing counts as existing.
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
  // Not derived from the file's name, which may already have the maximum length.
  const partial = join(folder, `.prooftrail-${randomUUID()}.partial`);
  const file = await open(partial, "wx", OWNER_ONLY).catch(cannot);
  /**
   * Somebody may have created the file meanwhile. A hard link to the partial file would detect that, but some USB sticks and network shares have no
   * hard links.
   */
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
      // After the renaming it does not exist any more.
      await rm(partial, { force: true });
    },
  };
};

const OWNER_ONLY = 0o600;

/**
 * The pieces of a body. One that does not end as HTTP requires (RFC 9112 §8) is reported as broken: fetch rejects both for a length that is not
 * reached and for a missing last chunk (measured on Bun 1.4.5).
 */
async function* chunks(
  { response, signal, onBytes }: DownloadOptions,
  adviceWhenBroken: string,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) {
      onBytes(chunk);
      yield chunk;
    }
  } catch (error) {
    if (!signal.aborted) throw broken(error, adviceWhenBroken);
  }
  if (signal.aborted) throw new Interrupted();
}

const broken = (error: unknown, advice: string) =>
  failure(
    "broken_transfer",
    `The service broke the transfer off before its end: ${describeNetworkError(error)}.`,
    advice,
  );
