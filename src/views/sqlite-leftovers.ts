/**
 * Drops the old tables of a view after new ones have replaced them. SQLite reads every page of a table that it drops: 0.9 ms per MB, more if the disk
 * is slow (measured), and a process that does so between requests answers none meanwhile. So the old tables are renamed, which takes no longer for
 * large ones, and a thread drops them, large ones in a transaction each. Deleting their rows bit by bit would take fifteen times as long (measured).
 * Renamed tables stay in the list of the view's tables until they are dropped, so that the next start continues with them.
 */
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { VIEW_BUSY_MS_MAX } from "../limits.ts";
import type { Transactions } from "./sqlite-connection.ts";
import { LEFTOVER } from "./sqlite-tables.ts";

export interface LeftoverDropper {
  /** A view that has leftovers. It is remembered until something is dropped. */
  found(view: string): void;
  /**
   * Drops the leftovers that were found, in the background. Called by a process that advances views, or tries to: other processes open views only
   * briefly. Resolves when everything is dropped, or when the rest cannot be dropped now.
   */
  drop(): Promise<void>;
  /** Ends at once: a table that is being dropped stays. */
  end(): void;
}

export const createLeftoverDropper = ({
  path,
  between,
  onFailed,
}: Pick<Transactions, "between"> & {
  readonly path: string;
  /** It is retried, and reported once. */
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

/** Another process checks every 5 ms whether the file is free (sqlite-connection.ts). */
const REST_MS = 10;

/** Pause before the next attempt. */
const RETRY_MS = 10_000;

/** How long small tables and indexes are dropped in one transaction. A large one takes as long as it takes. */
const STEP_MS = 50;

interface DropThread {
  /** Drops some leftovers of this view; false if there are none any more. Rejects if it fails, and when it is ended. */
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
    // Not awaited: what it is doing may take long.
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

/** The whole thread, passed as text, like that of sqlite-wal.ts. */
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
      // Opened anew each time: whoever closes the file last needs exclusive access.
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
