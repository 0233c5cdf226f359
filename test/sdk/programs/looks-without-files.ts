/**
 * Checks again and again whether the holder of a lease is alive, while only one more file can be opened, which a thread opens and closes all the time.
 * Prints how often the holder was taken for dead, and how often the check was impossible.
 */
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { isAbandoned } from "../../../src/sdk/lease.ts";

/** The number of impossible checks to wait for: the thread may need a while to get its turn. */
const LOOKS = 5000;
/** After this many checks there is room for more than one file: the runtime has closed one of its own since. */
const ALIVE_IN_A_ROW = 5000;

/** Opens all files that are left, also the one that the thread just had. */
const openAll = (): number[] => {
  const files: number[] = [];
  for (let failures = 0; failures < LOOKS; )
    try {
      files.push(openSync("/dev/null", "r"));
      failures = 0;
    } catch {
      failures++;
    }
  return files;
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
    // The other thread has it.
  }
};

if (isMainThread) {
  const thread = new Worker(new URL(import.meta.url));
  thread.once("message", () => {
    const counts = { dead: 0, alive: 0, unasked: 0 };
    // The machine's id is known from the first check on.
    counts[look()]++;
    const files: number[] = [];
    let alive = ALIVE_IN_A_ROW;
    while (counts.dead === 0 && counts.unasked < LOOKS) {
      if (alive === ALIVE_IN_A_ROW) {
        files.push(...openAll());
        closeSync(files.pop() ?? -1);
        alive = 0;
      }
      const seen = look();
      counts[seen]++;
      alive = seen === "alive" ? alive + 1 : 0;
    }
    for (const file of files) closeSync(file);
    process.stdout.write(JSON.stringify(counts), () => process.exit());
  });
} else {
  parentPort?.postMessage("ready");
  for (;;) openAndClose();
}
