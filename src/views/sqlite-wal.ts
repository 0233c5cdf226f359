/**
 * Moves what was committed from the WAL of a SQLite file into the file, while the process goes on. A commit that does it itself waits for the disk: a
 * tenth of the time that projecting takes, and requests wait for 0.2 s (measured). It needs no lock of those who write or read
 * (sqlite.org/wal.html, where it is called a checkpoint; here that word is a tree head's), so it has a thread of its own, which starts at the first time.
 */
import { Worker } from "node:worker_threads";
import { VIEW_WAL_PAGES } from "../limits.ts";
import type { Statements } from "./sqlite-connection.ts";
import { fromStored } from "./stored-rows.ts";

export interface WalMover {
  /** Something was committed. When enough pages wait they are moved, unless others are at the moment. */
  committed(): void;
  /** Resolves when nothing is being moved; nothing else will be. */
  close(): Promise<void>;
}

/**
 * `countWaiting`: pages of the WAL that are not in the file yet. Rows do not tell: a commit of 8000 records writes half a page for each, one of a hundred four
 * (measured). Where the thread cannot start or ends, the writer's own commits move what waits as soon as it is too much (wal_autocheckpoint).
 */
export const createWalMover = (path: string, countWaiting: () => number): WalMover => {
  let worker: Worker | undefined;
  let isOver = false;
  let moving: PromiseWithResolvers<void> | undefined;

  const moved = (): void => {
    moving?.resolve();
    moving = undefined;
  };
  const ended = (): void => {
    isOver = true;
    moved();
  };
  const start = (): Worker => {
    const started = new Worker(`(${thread})()`, { eval: true, workerData: path });
    started.on("message", moved).on("error", ended).on("exit", ended);
    // It has nothing of its own to wait for.
    started.unref();
    return started;
  };
  return {
    committed: () => {
      if (isOver || moving || countWaiting() < VIEW_WAL_PAGES) return;
      moving = Promise.withResolvers();
      worker ??= start();
      worker.postMessage("move");
    },
    close: async () => {
      isOver = true;
      await moving?.promise;
      await worker?.terminate();
    },
  };
};

/** Of the WAL, not in the file yet. It must not fail a commit that stands: what does not answer now is asked after the next one. */
export const pagesWaiting = (read: Statements): number => {
  try {
    const { log, checkpointed } = fromStored(read(WAL_PAGES).get() ?? {});
    return Number(log) - Number(checkpointed);
  } catch {
    return 0;
  }
};

/** Moves nothing, and says what there is to move (SQLite 3.51; before, a mode that it does not know moves all). Of `log`, `checkpointed` have been. */
const WAL_PAGES = "PRAGMA wal_checkpoint(NOOP)";

/** All of the thread: it is handed over as text, so that an executable need not bring a file for it. */
const thread = async (): Promise<void> => {
  const { DatabaseSync } = await import("node:sqlite");
  const { parentPort, workerData } = await import("node:worker_threads");
  const move = (): void => {
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
      move();
    } catch {
      // A full disk, a locked file: what was committed stays in the WAL, and is moved another time.
    }
    parentPort.postMessage("moved");
  });
};
