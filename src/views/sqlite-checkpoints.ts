/**
 * Moves pages from the WAL of a SQLite file into the file while the process goes on. A commit that does it itself waits for the disk: a tenth of the
 * time that projecting takes, and requests wait for 0.2 s (measured). In WAL mode a checkpoint needs no lock of those who write or read
 * (sqlite.org/wal.html), so it has a thread of its own, which starts with the first one.
 */
import { Worker } from "node:worker_threads";
import { VIEW_CHECKPOINT_WRITES } from "../limits.ts";

export interface Checkpoints {
  /** So many rows were committed. Begins a checkpoint when there are enough of them and none is under way. */
  wrote(rows: number): void;
  /** Resolves when none is under way; no other begins. */
  close(): Promise<void>;
}

/** Where the thread cannot start or ends, none begins any more; the writer's commits do it as soon as too much waits (wal_autocheckpoint). */
export const createCheckpoints = (path: string): Checkpoints => {
  let worker: Worker | undefined;
  let isOver = false;
  let rowsWaiting = 0;
  let underWay: PromiseWithResolvers<void> | undefined;

  const end = (): void => {
    underWay?.resolve();
    underWay = undefined;
  };
  const fail = (): void => {
    isOver = true;
    end();
  };
  const start = (): Worker => {
    const started = new Worker(`(${thread})()`, { eval: true, workerData: path });
    started.on("message", end).on("error", fail).on("exit", fail);
    // It has nothing of its own to wait for.
    started.unref();
    return started;
  };
  return {
    wrote: (rows) => {
      rowsWaiting += rows;
      if (isOver || underWay || rowsWaiting < VIEW_CHECKPOINT_WRITES) return;
      rowsWaiting = 0;
      underWay = Promise.withResolvers();
      worker ??= start();
      worker.postMessage("checkpoint");
    },
    close: async () => {
      isOver = true;
      await underWay?.promise;
      await worker?.terminate();
    },
  };
};

/** All of the thread: it is handed over as text, so that an executable need not bring a file for it. */
const thread = async (): Promise<void> => {
  const { DatabaseSync } = await import("node:sqlite");
  const { parentPort, workerData } = await import("node:worker_threads");
  const checkpoint = (): void => {
    // Each time anew: whoever closes the file last wants to be alone with it.
    const database = new DatabaseSync(workerData);
    try {
      database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } finally {
      database.close();
    }
  };
  parentPort?.on("message", () => {
    try {
      checkpoint();
    } catch {
      // A full disk, a locked file: what was committed stays in the WAL, and a later checkpoint moves it.
    }
    parentPort.postMessage("done");
  });
};
