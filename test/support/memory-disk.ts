/** A small memory disk for one test, which it can fill. For Linux, if a user may mount one in an own namespace; see `unshare(1)`. */
import { type ChildProcess, spawn } from "node:child_process";
import { dataFolder } from "./process.ts";

export interface Mount extends AsyncDisposable {
  /** Prefix for a path as processes see it that were started through `enter`. */
  readonly root: string;
  readonly enter: readonly string[];
}

/** A memory disk in its own namespace, kept by a sleeping process. */
export const mountDisk = async (path: string, mib: number): Promise<Mount> => {
  const script = `mount -t tmpfs -o size=${mib}m,mode=700 tmpfs "$0" && echo mounted && exec sleep infinity`;
  const holder = spawn("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, path], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = (): Promise<void> => endOf(holder);
  if (!(await says(holder, "mounted"))) {
    await end();
    throw new Error("this machine lets nobody mount a memory disk of his own (unshare --user --mount)");
  }
  const target = ["--target", String(holder.pid), "--user", "--mount", "--preserve-credentials"];
  return { root: `/proc/${holder.pid}/root`, enter: ["nsenter", ...target], [Symbol.asyncDispose]: end };
};

export const canMountDisk = async (): Promise<boolean> => {
  await using folder = await dataFolder();
  try {
    await using _mount = await mountDisk(folder.path, 1);
    return true;
  } catch {
    return false;
  }
};

const says = (child: ChildProcess, word: string): Promise<boolean> =>
  new Promise((resolve) => {
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      if (String(text).includes(word)) resolve(true);
    });
    child.on("error", () => resolve(false)).on("close", () => resolve(false));
  });

const endOf = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on("close", () => resolve());
    child.kill("SIGKILL");
  });
