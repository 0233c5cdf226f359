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
  /**
   * Asked before something is written. SQLite writes from the front of the WAL again when all of it has been moved, which never is where commits follow each other: so when
   * it has become long, resolves only then. Where somebody reads what stands in it, it grows nevertheless, and is waited for no more until it has become short.
   */
  room(): Promise<void>;
  /** Resolves when nothing is being moved; nothing else will be. */
  close(): Promise<void>;
}

export interface WalPages {
  readonly all: number;
  /** Those that are not in the file yet. */
  readonly waiting: number;
}

/** Half of what makes a commit move them itself (sqlite.ts). */
const LONG_PAGES = 40_000;

/**
 * `countPages`: what stands in the WAL. Rows do not tell: a commit of 8000 records writes half a page for each, one of a hundred four
 * (measured). Where the thread cannot start or ends, the writer's own commits move what waits as soon as it is too much (wal_autocheckpoint).
 */
export const createWalMover = (path: string, countPages: () => WalPages): WalMover => {
  let worker: Worker | undefined;
  let isOver = false;
  let moving: PromiseWithResolvers<void> | undefined;
  /** Pages after the last commit. */
  let all = 0;
  /** Those that were waited for; 0 for none, or where the WAL has been written from the front since. */
  let waitedFor = 0;

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
  const move = (): void => {
    moving = Promise.withResolvers();
    worker ??= start();
    worker.postMessage("move");
  };
  return {
    committed: () => {
      if (isOver) return;
      const pages = countPages();
      all = pages.all;
      if (all < waitedFor) waitedFor = 0;
      if (moving || pages.waiting < (all < LONG_PAGES ? VIEW_WAL_PAGES : 1)) return;
      move();
    },
    room: async () => {
      if (isOver || all < LONG_PAGES || waitedFor > 0) return;
      waitedFor = all;
      await moving?.promise;
      if (isOver || countPages().waiting === 0) return;
      move();
      await moving?.promise;
    },
    close: async () => {
      isOver = true;
      await moving?.promise;
      await worker?.terminate();
    },
  };
};

/** It must not fail a commit that stands: what does not answer now is asked after the next one. */
export const walPages = (read: Statements): WalPages => {
  try {
    const { log, checkpointed } = fromStored(read(WAL_PAGES).get() ?? {});
    return { all: Number(log), waiting: Number(log) - Number(checkpointed) };
  } catch {
    return { all: 0, waiting: 0 };
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
