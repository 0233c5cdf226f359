/** The programs that a measurement starts, each in a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { HistoryOrder } from "./history-records.ts";
import type { LoadOrder, LoadResult } from "./load.ts";
import { root } from "./subject.ts";

export interface Loader extends AsyncDisposable {
  /** One at a time. */
  load(order: LoadOrder): Promise<LoadResult>;
}

/** See load.ts. */
export const startLoader = (): Loader => {
  const child = spawn(process.execPath, [join(root, "bench/load.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    load: async (order) => {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error("bench/load.ts ended before it answered");
      return JSON.parse(value);
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await ended;
    },
  };
};

/** See history-records.ts. */
export const writeHistoryRecords = async (path: string, events: number, order: HistoryOrder): Promise<void> =>
  void (await run(["bench/history-records.ts", path, String(events), order]));

const run = ([script = "", ...args]: readonly string[]): Promise<string> => {
  const { promise, resolve: done, reject } = Promise.withResolvers<string>();
  const child = spawn(process.execPath, [join(root, script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.on("close", (code) =>
    code === 0 ? done(output) : reject(new Error(`${script} ended with ${code}`)),
  );
  return promise;
};
