/**
 * Freed memory stays with the program. Bun's allocator (mimalloc 3.5) gives it back to the system within milliseconds, even single pages inside of
 * blocks that are in use, and most of it is needed again at once. Each page then costs a page fault: a projector has two for each record, which is 5 to
 * 9 % of its time (measured).
 *
 * The allocator reads its settings from the environment before any code of a program runs. So the process begins again with the setting: it is the
 * same process with the same arguments and open streams (execve(2)), 5 ms later, or 20 in the executable.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { runtimeName } from "./listen.ts";

/** Milliseconds after which freed memory is given back (microsoft.github.io/mimalloc/environment.html). */
const SETTING = "MIMALLOC_PURGE_DELAY";
const NEVER = "-1";

/**
 * Call it before anything is opened or loaded. Does nothing if the setting is there already, and where a process cannot begin again: only Bun on
 * Linux can.
 */
export const keepFreedMemory = (): void => {
  if (runtimeName !== "Bun" || process.platform !== "linux") return;
  if (process.env[SETTING] !== undefined) return;
  try {
    process.execve?.(process.execPath, ownArguments(), { ...process.env, [SETTING]: NEVER });
  } catch {
    // It only costs time.
  }
};

/** Of the whole process, those for Bun among them: `process.argv` has others in an executable. Each ends with U+0000 (proc(5)). */
const ownArguments = (): readonly string[] =>
  readFileSync("/proc/self/cmdline", "utf8").split("\0").slice(0, -1);
