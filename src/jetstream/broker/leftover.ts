/** A nats-server of ours that outlived the process that started it. It must be gone before another opens the same store. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../telemetry/logger.ts";
import type { BrokerFiles } from "./broker-files.ts";

/** The shim's watcher ends the broker of a dead parent within 5 s (shim.ts); one more for the machine. */
const OWN_END_MS_MAX = 6000;
const KILLED_END_MS_MAX = 5000;
const POLL_MS = 20;

/** Waits until the server of an earlier run has ended; kills it when it does not. Resolves when none runs. */
export const endLeftover = async (files: BrokerFiles, logger: Logger): Promise<void> => {
  const pid = await readBrokerPid(files);
  if (pid === undefined || !(await isOurBroker(pid, files))) return;
  logger.warn("a broker of an earlier run is still there: waiting for it to end", { pid });
  if (await hasEnded(pid, files, OWN_END_MS_MAX)) return;
  logger.warn("it did not end by itself: killing it", { pid });
  kill(pid);
  if (await hasEnded(pid, files, KILLED_END_MS_MAX)) return;
  throw new Error(`process ${pid} is an earlier broker on ${files.directory} and cannot be killed`);
};

/** The process id that the server wrote, or undefined while there is none. */
export const readBrokerPid = async (files: BrokerFiles): Promise<number | undefined> => {
  const pid = Number.parseInt(await readFile(files.pid, "utf8").catch(() => ""), 10);
  return Number.isInteger(pid) && pid > 1 ? pid : undefined;
};

const hasEnded = async (pid: number, files: BrokerFiles, waitMs: number): Promise<boolean> => {
  const deadline = performance.now() + waitMs;
  while (await isOurBroker(pid, files)) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
};

/**
 * Process ids are reused, so the command line must end with exactly our configuration; a path that only ends like it belongs to another
 * service. A zombie has no command line and counts as ended.
 */
const isOurBroker = async (pid: number, files: BrokerFiles): Promise<boolean> =>
  (await commandLine(pid)).endsWith(` ${files.configuration}`);

/** Its arguments with a space between them. */
const commandLine = async (pid: number): Promise<string> => {
  if (process.platform !== "linux") return commandLineFromPs(pid);
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text.split("\0").slice(0, -1).join(" ");
};

const commandLineFromPs = (pid: number): Promise<string> =>
  new Promise((resolve) => {
    execFile("ps", ["-ww", "-o", "args=", "-p", String(pid)], (error, stdout) =>
      resolve(error ? "" : stdout.trimEnd()),
    );
  });

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone in between.
  }
};
