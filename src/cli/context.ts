/** The world that a command runs in: where it writes and reads, its environment, the clock and Ctrl-C. main.ts makes the real one, tests others. */
import process from "node:process";
import type { Readable } from "node:stream";
import { printableDocuments, printableJson } from "../terminal/printable.ts";

export interface Writer {
  readonly isTerminal: boolean;
  /** Of the terminal; 80 where that is unknown. */
  readonly columns: number;
  readonly hasColour: boolean;
  /** Resolves when there is room for more. Never rejects. */
  write(text: string | Uint8Array): Promise<void>;
  /** False once its reader has gone, as `head` goes, or a write has failed. */
  isHeard(): boolean;
  /** Why what was written did not all get out, as on a full disk. A reader that has gone is none: it has what it wanted. */
  problem(): Error | undefined;
}

export interface Context {
  readonly out: Writer;
  readonly err: Writer;
  readonly input: { readonly isTerminal: boolean; readonly stream: Readable };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C or a signal to end, from the first call on; before it they end the program at once. */
  interruption(): AbortSignal;
  readonly now: () => Date;
  /** From 0 to below 1. */
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
    // no-color.org: any value but the empty one.
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

/** For a command that writes JSON: what others wrote in it must not steer a terminal. A file or a pipe gets it as it is. */
export const withPrintableJson = (context: Context): Context => {
  const { out, err, environment, interruption, now, random } = context;
  return {
    out: printingTexts(out, printableJson),
    err: printingTexts(err, printableDocuments),
    get input() {
      return context.input;
    },
    environment,
    interruption,
    now,
    random,
  };
};

const printingTexts = (writer: Writer, print: (text: string) => string): Writer =>
  writer.isTerminal
    ? {
        isTerminal: true,
        get columns() {
          return writer.columns;
        },
        hasColour: writer.hasColour,
        write: (text) => writer.write(typeof text === "string" ? print(text) : text),
        isHeard: writer.isHeard,
        problem: writer.problem,
      }
    : writer;

const interruptionOf = (): (() => AbortSignal) => {
  let controller: AbortController | undefined;
  return () => {
    if (controller) return controller.signal;
    const stopping = new AbortController();
    controller = stopping;
    // Once: who asks a second time does not want to wait.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
    return stopping.signal;
  };
};
