/** Runs `prooftrail` as its own process, or reads it in this one. */
import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import type { Context, Writer } from "../../src/cli/context.ts";
import { builtProgram } from "./built-program.ts";

/** The source, for callers that start it through another program. */
export const CLI_MAIN = resolve(import.meta.dir, "../../src/cli/main.ts");

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningCli extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly out: string;
  readonly err: string;
  ended(): Promise<CliResult>;
}

export interface CliOptions {
  /** In addition to PATH and HOME of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Text for its standard input; empty by default. `open`: left open, for the test to write to. */
  readonly input?: string | "open";
}

/** Does not wait for the end of the process. */
export const startCli = async (args: readonly string[], options: CliOptions = {}): Promise<RunningCli> => {
  const { environment = {}, cwd, input = "" } = options;
  const child = spawn(await builtProgram(), args, {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...environment },
    ...(cwd !== undefined && { cwd }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    err += text;
  });
  child.stdin.on("error", () => {});
  if (input !== "open") child.stdin.end(input);
  const ended = new Promise<CliResult>((done) => child.on("close", (code) => done({ code, out, err })));
  return {
    child,
    get out() {
      return out;
    },
    get err() {
      return err;
    },
    ended: () => ended,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};

export const runCli = async (args: readonly string[], options: CliOptions = {}): Promise<CliResult> => {
  await using cli = await startCli(args, options);
  return await cli.ended();
};

export interface TestWriter extends Writer {
  readonly text: string;
}

/** `columns`: a terminal of that width; no terminal if absent. */
const createTestWriter = (columns?: number): TestWriter => {
  let text = "";
  const decoder = new TextDecoder();
  return {
    isTerminal: columns !== undefined,
    columns: columns ?? 80,
    hasColour: false,
    write: async (more) => {
      text += typeof more === "string" ? more : decoder.decode(more);
    },
    isHeard: () => true,
    problem: () => undefined,
    get text() {
      return text;
    },
  };
};

/** For commands that run in this process. */
export const createTestContext = (options: {
  readonly environment?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly now?: () => Date;
}): Context & { readonly out: TestWriter; readonly err: TestWriter } => {
  const { environment = {}, columns, now = () => new Date() } = options;
  return {
    out: createTestWriter(columns),
    err: createTestWriter(columns),
    input: { isTerminal: false, stream: new PassThrough() },
    environment,
    interruption: () => new AbortController().signal,
    now,
    random: () => 0.5,
  };
};
