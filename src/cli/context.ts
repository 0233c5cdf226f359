/** The environment of a command: output, input, environment variables, the clock and Ctrl-C. */
import process from "node:process";
import type { Readable } from "node:stream";
import { printableDocuments, printableJson } from "../runtime/printable.ts";

export interface Writer {
  readonly isTerminal: boolean;
  /** Width of the terminal; 80 if it is unknown. */
  readonly columns: number;
  readonly hasColour: boolean;
  write(text: string | Uint8Array): Promise<void>;
  /** False after its reader has gone away, as `head` does, or after a write has failed. */
  isHeard(): boolean;
  /** Why not all output was written, as on a full disk. A reader that went away is no such reason: it has what it wanted. */
  problem(): Error | undefined;
}

export interface Context {
  readonly out: Writer;
  readonly err: Writer;
  readonly input: { readonly isTerminal: boolean; readonly stream: Readable };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C or a terminating signal, from the first call on; before that they end the program at once. */
  interruption(): AbortSignal;
  readonly now: () => Date;
  readonly random: () => number;
}

const COLUMNS_UNKNOWN = 80;

export const processContext = (): Context => {
  const { env: environment } = process;
  return {
    out: writerOn(process.stdout, environment),
    err: writerOn(process.stderr, environment),
    get input() {
      return { isTerminal: process.stdin.isTTY === true, stream: process.stdin };
    },
    environment,
    interruption: interruptionOf(),
    now: () => new Date(),
    random: Math.random,
  };
};

const writerOn = (stream: NodeJS.WriteStream, environment: Context["environment"]): Writer => {
  let isHeard = true;
  let problem: Error | undefined;
  const fail = (error: Error): void => {
    isHeard = false;
    if (!("code" in error && error.code === "EPIPE")) problem ??= error;
  };
  stream.on("error", fail);
  const isTerminal = stream.isTTY === true;
  return {
    isTerminal,
    get columns() {
      return stream.columns > 0 ? stream.columns : COLUMNS_UNKNOWN;
    },
    // no-color.org: any value except the empty one.
    hasColour: isTerminal && (environment.NO_COLOR ?? "") === "" && environment.TERM !== "dumb",
    write: (text) =>
      new Promise((resolve) => {
        if (!isHeard) resolve();
        else
          stream.write(text, (error) => {
            if (error) fail(error);
            resolve();
          });
      }),
    isHeard: () => isHeard,
    problem: () => problem,
  };
};

/** For a command that writes JSON: text from others must not control a terminal. A file or a pipe gets the JSON unchanged. */
export const withPrintableJson = (context: Context): Context => ({
  ...context,
  out: printing(context.out, printableJson),
  err: printing(context.err, printableDocuments),
});

const printing = (writer: Writer, print: (text: string) => string): Writer =>
  writer.isTerminal
    ? { ...writer, write: (text) => writer.write(typeof text === "string" ? print(text) : text) }
    : writer;

const interruptionOf = (): (() => AbortSignal) => {
  let controller: AbortController | undefined;
  return () => {
    if (controller) return controller.signal;
    const stopping = new AbortController();
    controller = stopping;
    // Only the first signal is handled: a second one ends the program at once.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
    return stopping.signal;
  };
};
