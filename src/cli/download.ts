/** A downloaded file, which is either complete or absent: it is renamed when the transfer has ended properly. */
import { randomUUID } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { missingAs, syncFolder } from "../runtime/durable-file.ts";
import { describeNetworkError, openApi } from "./api.ts";
import { type Input, type OptionSpec, toggle } from "./command.ts";
import type { Context, Writer } from "./context.ts";
import { Failure, failure, Interrupted, reasonOf } from "./failure.ts";
import { CLI_LONG_ANSWER_MS_MAX } from "./limits.ts";
import { queryFrom } from "./options.ts";
import { progressFor, type Report } from "./progress.ts";

export const FORCE_OPTION: OptionSpec = toggle("--force", "replace the file if it exists");

interface FileSpec {
  readonly path: string;
  readonly parameters: readonly OptionSpec[];
  readonly mediaType: string;
  readonly progress: { readonly what: string; readonly unit: string };
  /** Called for each piece, with the number of bytes up to its end. */
  readonly report: (chunk: Uint8Array, bytes: number) => Report;
  /** Makes the text harmless if it goes to a terminal. */
  readonly print?: (part: string) => string;
}

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
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of wholeBody(response, signal, target !== undefined)) {
      bytes += chunk.length;
      progress.report(report(chunk, bytes));
      yield chunk;
    }
  };
  try {
    await (target ? target.fill(chunks()) : copyTo(context.out, chunks(), print));
  } finally {
    progress.end();
  }
  return { bytes, headers: response.headers };
};

const copyTo = async (
  out: Writer,
  chunks: AsyncIterable<Uint8Array>,
  print: (part: string) => string,
): Promise<void> => {
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    await out.write(out.isTerminal ? print(decoder.decode(chunk, { stream: true })) : chunk);
    if (!out.isHeard()) break;
  }
};

/**
 * Before the request: an export is recorded in the log, which is pointless if its file cannot be written. From here on Ctrl-C must arrive as
 * Interrupted, or it would leave a partial file.
 */
const openTarget = async (path: string, isForced: boolean) => {
  const unusable = (detail: string, advice = "Name another file.") =>
    failure("unreadable_file", detail, advice);
  const cannot = (error: unknown): never => {
    throw error instanceof Failure ? error : unusable(`${path} cannot be written: ${reasonOf(error)}.`);
  };
  // A link counts as existing, wherever it leads.
  const refuseIfThere = async (): Promise<void> => {
    const found = await lstat(path).catch(missingAs(undefined)).catch(cannot);
    if (found && !found.isFile()) throw unusable(`${path} already exists, and is not a file.`);
    if (found && !isForced) throw unusable(`${path} already exists.`, "Name another file, or give --force.");
  };
  if (path === "" || path.endsWith("/")) throw unusable(`"${path}" is not a file name.`, "Name a file.");
  await refuseIfThere();
  const folder = dirname(path);
  // Not derived from the file's name, which may already have the maximum length.
  const partial = join(folder, `.prooftrail-${randomUUID()}.partial`);
  const file = await open(partial, "wx", 0o600).catch(cannot);
  const finish = async (): Promise<void> => {
    await file.sync();
    await refuseIfThere();
    await rename(partial, path);
    await syncFolder(folder);
  };
  return {
    fill: async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const chunk of chunks) await file.writeFile(chunk).catch(cannot);
      await finish().catch(cannot);
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await file.close();
      // After the rename it no longer exists.
      await rm(partial, { force: true });
    },
  };
};

/** One that does not end as HTTP requires (RFC 9112 §8) is reported as broken: fetch rejects for a missing end (measured on Bun 1.4.5). */
async function* wholeBody(
  response: Response,
  signal: AbortSignal,
  isToFile: boolean,
): AsyncGenerator<Uint8Array> {
  try {
    yield* response.body ?? [];
  } catch (error) {
    if (!signal.aborted)
      throw failure(
        "broken_transfer",
        `The service broke off the transfer: ${describeNetworkError(error)}.`,
        isToFile ? "Try again. Nothing was kept." : "Try again: what was written so far is incomplete.",
      );
  }
  if (signal.aborted) throw new Interrupted();
}
