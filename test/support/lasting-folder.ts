/**
 * A temporary folder that lasts as long as this process, for parts that several test files share because making them takes a second or more. It is removed
 * however the process ends, also by `kill -9`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface LastingFolder {
  readonly path: string;
  /** Removes it now, not at the end of the process. */
  remove(): Promise<void>;
}

/** `ending` is a piece of a shell script, run before the folder `$1` is removed. */
export const lastingFolder = (name: string, { ending = "", parent = tmpdir() } = {}): LastingFolder => {
  const path = mkdtempSync(join(parent, `prooftrail-${name}-`));
  // A shell that waits for the end of a pipe that only this process holds: the kernel closes it when this process dies.
  const script = `read -r _\n${ending}\nrm -rf "$1"`;
  const cleaner = spawn("/bin/sh", ["-c", script, `prooftrail-${name}`, path], {
    // Its own process group: Ctrl-C in the terminal must not end it before its work.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  cleaner.unref();
  const ended = once(cleaner, "exit");
  return {
    path,
    remove: async () => {
      cleaner.stdin.end();
      await ended;
    },
  };
};

/** `make` is called once, whichever file's test asks first. */
export const sharedByFiles = <Made>(make: () => Promise<Made>): (() => Promise<Made>) => {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
