/** Runs a program to its end and gives what it printed. Not for programs that stay: see launch.ts. */
import { execFile } from "node:child_process";

interface CommandOptions {
  readonly directory?: string;
  readonly timeoutMs: number;
}

export type CommandOutcome =
  | { readonly kind: "done"; readonly output: string }
  /** `isAbsent`: there is no such program. Otherwise it did not end with status 0 in time; the reason is one line. */
  | { readonly kind: "failed"; readonly isAbsent: boolean; readonly reason: string };

const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

export const runCommand = (
  program: string,
  parameters: readonly string[],
  { directory, timeoutMs }: CommandOptions,
): Promise<CommandOutcome> =>
  new Promise((resolve) => {
    const settings = {
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      maxBuffer: OUTPUT_BYTES_MAX,
      // Messages in one language, whatever the machine speaks.
      env: { ...process.env, LC_ALL: "C" },
      ...(directory === undefined ? {} : { cwd: directory }),
    } as const;
    execFile(program, parameters, settings, (error, stdout, stderr) => {
      if (error === null) return resolve({ kind: "done", output: stdout + stderr });
      const said = error.killed ? `it did not end within ${timeoutMs} ms` : lastLine(stderr);
      resolve({
        kind: "failed",
        isAbsent: error.code === "ENOENT",
        reason: said ?? lastLine(error.message) ?? "it failed",
      });
    });
  });

const lastLine = (text: string): string | undefined => text.trim().split("\n").at(-1)?.trim() || undefined;
