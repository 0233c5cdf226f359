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

export const runCommand = (
  program: string,
  parameters: readonly string[],
  { timeoutMs, directory: cwd }: { readonly timeoutMs: number; readonly directory?: string | undefined },
): Promise<string> =>
  new Promise((resolve, reject) => {
    // Messages in one language, whatever the machine speaks.
    const env = { ...process.env, LC_ALL: "C" };
    const bounds = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: OUTPUT_BYTES_MAX } as const;
    execFile(program, parameters, { cwd, env, ...bounds }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout + stderr);
      const reason = error.killed ? `it did not end within ${timeoutMs} ms` : stderr.trim() || error.message;
      const line = reason.trim().split("\n").at(-1) ?? "";
      reject(new CommandError(line, error.code === "ENOENT"));
    });
  });
