/**
 * The tables that a view was made of, where others have taken their place. SQLite looks at every page of what it drops: 0.9 ms for each MB, more where the disk
 * has to be waited for (measured), and a process that does it between requests answers none meanwhile. So the old tables are moved aside, which large
 * ones do not make longer, and a thread drops them, a large one in a transaction of its own. Deleting their rows bit by bit takes fifteen times as long (measured).
 * What was moved aside stands among the tables of its view until it has gone, so that the next start goes on with it.
 */
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { VIEW_BUSY_MS_MAX } from "../limits.ts";
import type { Transactions } from "./sqlite-connection.ts";
import { LEFTOVER } from "./sqlite-tables.ts";

export interface LeftoverDropper {
  /** A view that has some. Kept in mind until something is dropped. */
  found(view: string): void;
  /**
   * What was found, beside everything else. Asked for by who moves views, or tries to: others open some and are gone again. Resolves when all has gone, or
   * some of it cannot go now.
   */
  drop(): Promise<void>;
  /** At once: what is being dropped is there again, and stays. */
  end(): void;
}

export const createLeftoverDropper = ({
  path,
  between,
  onFailed,
}: Pick<Transactions, "between"> & {
  readonly path: string;
  /** It is tried again, and told of once. */
  readonly onFailed: (detail: string) => void;
}): LeftoverDropper => {
  const ending = new AbortController();
  const { signal } = ending;
  const views = new Set<string>();
  let trying: Promise<void> | undefined;
  let isTold = false;

  const dropEach = async (): Promise<void> => {
    const thread = startThread(path, signal);
    try {
      for (const view of views) {
        while (await between(() => thread.dropSome(view))) await delay(REST_MS);
        views.delete(view);
      }
    } finally {
      thread.end();
    }
  };
  const tryOnce = (): Promise<void> =>
    dropEach().catch((error: unknown) => {
      if (!isTold && !signal.aborted) onFailed(String(error));
      isTold = true;
    });
  const tryUntilGone = async (first: Promise<void>): Promise<void> => {
    await first;
    while (views.size > 0 && !signal.aborted) {
      await delay(RETRY_MS, undefined, { ref: false, signal }).catch(() => undefined);
      await tryOnce();
    }
    trying = undefined;
  };
  return {
    found: (view) => {
      views.add(view);
    },
    drop: async () => {
      if (views.size === 0 || signal.aborted) return;
      if (!trying) {
        trying = tryOnce();
        void tryUntilGone(trying);
      }
      await trying;
    },
    end: () => ending.abort(),
  };
};

/** Another process looks every 5 ms whether the file is free (sqlite-connection.ts). */
const REST_MS = 10;

/** Pause before it is tried once more. */
const RETRY_MS = 10_000;

/** For which small tables and indexes go in one transaction. A large one takes its time. */
const STEP_MS = 50;

interface DropThread {
  /** Some of the leftovers of this view; false where there are none any more. Rejects where it fails, and when the end is asked for. */
  dropSome(view: string): Promise<boolean>;
  end(): void;
}

const startThread = (path: string, signal: AbortSignal): DropThread => {
  const worker = new Worker(`(${dropWhenAsked})()`, {
    eval: true,
    workerData: { path, busyMs: VIEW_BUSY_MS_MAX, stepMs: STEP_MS, mark: LEFTOVER },
  });
  let answer: PromiseWithResolvers<boolean> | undefined;
  let isEnded = false;
  const failed = (reason: unknown): void => answer?.reject(reason);
  const ended = (reason: unknown): void => {
    isEnded = true;
    failed(reason);
  };
  worker
    .on("message", ({ isMore, failure }: { isMore: boolean; failure?: string }) =>
      failure === undefined ? answer?.resolve(isMore) : failed(failure),
    )
    .on("error", ended)
    .on("exit", (code) => ended(`the thread exited with ${code}`));
  worker.unref();
  const end = (): void => {
    ended("it is ending");
    // Not waited for: what it is at may take it long.
    void worker.terminate();
  };
  signal.addEventListener("abort", end, { once: true });
  return {
    dropSome: (view) => {
      if (isEnded) return Promise.reject(new Error("the thread has ended"));
      answer = Promise.withResolvers();
      worker.postMessage(view);
      return answer.promise;
    },
    end: () => {
      signal.removeEventListener("abort", end);
      end();
    },
  };
};

/** All of the thread: it is handed over as text, as that of sqlite-wal.ts. */
const dropWhenAsked = async (): Promise<void> => {
  const { DatabaseSync } = await import("node:sqlite");
  const { parentPort, workerData } = await import("node:worker_threads");
  const dropNext = (database: DatabaseSync, name: string): boolean => {
    const view = database.prepare("SELECT tables FROM views WHERE name = ?").get(name);
    const tables: readonly string[] = view === undefined ? [] : JSON.parse(String(view.tables));
    const table = tables.find((each) => each.includes(workerData.mark));
    if (table === undefined) return false;
    const index = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
      .get(table);
    if (index !== undefined) {
      database.exec(`DROP INDEX "${index.name}"`);
      return true;
    }
    database.exec(`DROP TABLE "${table}"`);
    const others = JSON.stringify(tables.filter((each) => each !== table));
    database.prepare("UPDATE views SET tables = ? WHERE name = ?").run(others, name);
    return true;
  };
  parentPort?.on("message", (name) => {
    try {
      // Each time anew: whoever closes the file last wants to be alone with it.
      const database = new DatabaseSync(workerData.path);
      try {
        database.exec(`PRAGMA busy_timeout = ${workerData.busyMs}`);
        database.exec("BEGIN IMMEDIATE");
        const endMs = performance.now() + workerData.stepMs;
        let isMore = dropNext(database, name);
        while (isMore && performance.now() < endMs) isMore = dropNext(database, name);
        database.exec("COMMIT");
        parentPort.postMessage({ isMore });
      } finally {
        database.close();
      }
    } catch (error) {
      parentPort.postMessage({ isMore: true, failure: String(error) });
    }
  });
};
