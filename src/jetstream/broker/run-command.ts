/** Runs a program to its end and gives what it printed. */
import { execFile } from "node:child_process";

const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** The program is missing, or did not end with status 0 in time. The message is one line. */
export class CommandError extends Error {
  readonly isAbsent: boolean;
  constructor(message: string, isAbsent: boolean) {
    super(message);
    this.isAbsent = isAbsent;
  }
}

/** Rejects with CommandError. */
export const runCommand = (
  program: string,
  parameters: readonly string[],
  { timeoutMs, directory }: { readonly timeoutMs: number; readonly directory?: string | undefined },
): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const settings = {
    cwd: directory,
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    maxBuffer: OUTPUT_BYTES_MAX,
    // Messages in one language, whatever the machine speaks.
    env: { ...process.env, LC_ALL: "C" },
  } as const;
  execFile(program, parameters, settings, (error, stdout, stderr) => {
    if (error === null) return resolve(stdout + stderr);
    const reason = error.killed ? `it did not end within ${timeoutMs} ms` : lastLine(stderr);
    reject(new CommandError(reason || lastLine(error.message) || "it failed", error.code === "ENOENT"));
  });
  return promise;
};

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";
