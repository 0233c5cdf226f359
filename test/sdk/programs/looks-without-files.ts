/**
 * Looks again and again whether the holder of a lease lives, while a single file more may be open, which a thread of it opens and closes all the time.
 * Prints how often it was taken for dead, and how often that could not be asked.
 */
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { isAbandoned } from "../../../src/sdk/lease.ts";

const LOOKS = 20_000;

const openAll = (): number[] => {
  const files: number[] = [];
  try {
    for (;;) files.push(openSync("/dev/null", "r"));
  } catch {
    return files;
  }
};

const look = (): "dead" | "alive" | "unasked" => {
  const { LEASE_FOLDER = "", LEASE_OWNER = "" } = process.env;
  try {
    return isAbandoned(LEASE_FOLDER, LEASE_OWNER, () => false) ? "dead" : "alive";
  } catch {
    return "unasked";
  }
};

const openAndClose = (): void => {
  try {
    closeSync(openSync("/dev/null", "r"));
  } catch {
    // The other one has it.
  }
};

if (isMainThread) {
  const thread = new Worker(new URL(import.meta.url));
  thread.once("message", () => {
    const counts = { dead: 0, alive: 0, unasked: 0 };
    counts[look()]++;
    const files = openAll();
    closeSync(files.pop() ?? -1);
    for (let n = 0; n < LOOKS; n++) counts[look()]++;
    for (const file of files) closeSync(file);
    process.stdout.write(JSON.stringify(counts), () => process.exit());
  });
} else {
  parentPort?.postMessage("ready");
  for (;;) openAndClose();
}
