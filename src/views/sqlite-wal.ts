/**
 * Moves what was committed from the WAL of a SQLite file into the file, while the process goes on. A commit that does it itself waits for the disk: a
 * tenth of the time that projecting takes, and requests wait for 0.2 s (measured). It needs no lock of those who write or read
 * (sqlite.org/wal.html, where it is called a checkpoint; here that word is a tree head's), so it has a thread of its own, which starts at the first time.
 */
import { statfsSync, statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { VIEW_WAL_PAGES } from "../limits.ts";
import type { Room, Statements } from "./sqlite-connection.ts";
import { fromStored } from "./stored-rows.ts";

export interface WalMover extends Room {
  /** A WAL that the file has no room for could not be emptied any more: it would keep the disk full. It grows while somebody reads one state for long. */
  checkFits(): Promise<void>;
  /** When enough pages wait they are moved, unless others are at the moment. */
  committed(): void;
  /** What the WAL has of it is given back, as far as that goes. */
  failed(): void;
  /** So many records write no more than can be moved into the file afterwards: what fills the disk on its way into the WAL stays there. */
  recordsMax(): number;
  /** The disk has no room for a WAL as large as it may become. */
  isNarrow(): boolean;
  /** Resolves when nothing is being moved; nothing else will be. */
  close(): Promise<void>;
}

/** What the file's connections know. */
interface Ask {
  count(): WalPages;
  /** Of the file when all is moved into it, what the open transaction has written too. */
  bytes(): number;
}

/** Pages of the WAL, and how many of them are not in the file yet. */
export interface WalPages {
  readonly all: number;
  readonly waiting: number;
}

/**
 * Pages that may be in the WAL before a commit itself moves what waits, and waits for the disk, 0.4 s or so (measured): 625 MiB. A commit of who is far
 * behind writes up to 64,000 of them; the thread moves these meanwhile. While commits follow each other the WAL does grow to that: SQLite begins it anew
 * only where a commit finds nothing in it that waits.
 */
export const WAL_PAGES_MAX = 80_000;

/** For a new file. Writing takes a seventh less than with SQLite's default of 4096, and as much as with 16384 (measured). */
export const PAGE_BYTES = 8192;

/**
 * Where the disk has no room for such a WAL, this much of it is moved, and given back, before the next commit: 8 MiB, or an eighth of what is free. The file
 * leaves as much: rows that are there already can then be changed, and the broker goes on.
 */
const TIGHT_WAL_PAGES = 1000;
const TIGHT_WAL_SHARE = 1 / 8;

/** Of a commit of a hundred records, more than of one of thousands (measured). Each of them may need its room twice: in the WAL, and in the file. */
const PAGES_PER_RECORD = 4;

/** Pause before the thread is started again; twice as long each time, up to the second. */
export const WAL_THREAD_RETRY_MS = 1_000;
const WAL_THREAD_RETRY_MS_MAX = 60_000;

/** The thread, and who is told of it. */
export interface WalThread {
  readonly start: (path: string) => Worker;
  readonly elapsedMs: () => number;
  /** It could not start, or ended: told of once until it has moved pages again. */
  readonly onEnded: (detail: string) => void;
}

/**
 * Rows do not tell how much there is to move: a commit of 8000 records writes half a page for each, one of a hundred four (measured). While the thread
 * cannot start or has ended, the writer's own commits move what waits as soon as it is too much (wal_autocheckpoint), and it is started again later and later.
 */
export const createWalMover = (path: string, { count, bytes }: Ask, thread: WalThread): WalMover => {
  let worker: Worker | undefined;
  let isClosed = false;
  let moving: PromiseWithResolvers<void> | undefined;
  let isTight = false;
  let retryMs = WAL_THREAD_RETRY_MS;
  let retryAt = Number.NEGATIVE_INFINITY;
  let isTold = false;

  const moved = (): void => {
    moving?.resolve();
    moving = undefined;
  };
  const ended = (reason: string): void => {
    worker = undefined;
    retryAt = thread.elapsedMs() + retryMs;
    retryMs = Math.min(2 * retryMs, WAL_THREAD_RETRY_MS_MAX);
    moved();
    if (isTold || isClosed) return;
    isTold = true;
    thread.onEnded(reason);
  };
  const start = (): Worker => {
    const started = thread.start(path);
    // An error is followed by the exit.
    const endedOnce = (reason: string): void => void (worker === started && ended(reason));
    started
      .on("message", () => {
        [retryMs, isTold] = [WAL_THREAD_RETRY_MS, false];
        moved();
      })
      .on("error", (error) => endedOnce(String(error)))
      .on("exit", (code) => endedOnce(`it exited with ${code}`));
    // It has nothing of its own to wait for.
    started.unref();
    return started;
  };
  const move = (mode: "PASSIVE" | "TRUNCATE"): void => {
    if (isClosed || moving || (!worker && thread.elapsedMs() < retryAt)) return;
    moving = Promise.withResolvers();
    try {
      worker ??= start();
      worker.postMessage(mode);
    } catch (error) {
      // The commit that asks for it stands.
      ended(String(error));
    }
  };
  const fits = (): boolean => {
    const missing = bytes() - statSync(path).size;
    // What is to be written has the same way before it: into the WAL first.
    return missing <= 0 || freeBytes(path) >= 2 * missing + TIGHT_WAL_PAGES * PAGE_BYTES;
  };
  return {
    recordsMax: () => {
      const free = freeBytes(path);
      if (!isLittle(free)) return Number.POSITIVE_INFINITY;
      return Math.max(1, Math.floor(free / (2 * PAGES_PER_RECORD * PAGE_BYTES)));
    },
    isNarrow: () => isLittle(freeBytes(path)),
    checkFits: async () => {
      if (fits()) return;
      // What is committed may be moved beside the open transaction.
      move("PASSIVE");
      await moving?.promise;
      if (!fits()) throw new Error("the disk has no room for it in the WAL and in the file");
    },
    committed: () => {
      const free = freeBytes(path);
      isTight = isLittle(free);
      const { all, waiting } = count();
      if (isTight && all >= Math.min(TIGHT_WAL_PAGES, (free / PAGE_BYTES) * TIGHT_WAL_SHARE))
        move("TRUNCATE");
      else if (waiting >= VIEW_WAL_PAGES) move("PASSIVE");
    },
    failed: () => {
      isTight = true;
      move("TRUNCATE");
    },
    room: async () => {
      if (isTight) await moving?.promise;
    },
    close: async () => {
      isClosed = true;
      await moving?.promise;
      await worker?.terminate();
    },
  };
};

export const startWalThread = (path: string): Worker =>
  new Worker(`(${moveWhenAsked})()`, { eval: true, workerData: path });

const isLittle = (bytes: number): boolean => bytes < WAL_PAGES_MAX * PAGE_BYTES;

const freeBytes = (path: string): number => {
  try {
    const { bavail, blocks, bsize } = statfsSync(path);
    // Some file systems say nothing of themselves.
    return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
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

export const fileBytes = (statements: Statements): number => {
  const { page_count, page_size } = fromStored(statements(FILE_SIZE).get() ?? {});
  return Number(page_count) * Number(page_size);
};

const FILE_SIZE = "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size";

/** Moves nothing, and says what there is to move (SQLite 3.51; before, a mode that it does not know moves all). Of `log`, `checkpointed` have been. */
const WAL_PAGES = "PRAGMA wal_checkpoint(NOOP)";

/** All of the thread: it is handed over as text, so that an executable need not bring a file for it. */
const moveWhenAsked = async (): Promise<void> => {
  const { DatabaseSync } = await import("node:sqlite");
  const { parentPort, workerData } = await import("node:worker_threads");
  const move = (mode: string): void => {
    // Each time anew: whoever closes the file last wants to be alone with it.
    const database = new DatabaseSync(workerData);
    try {
      database.exec(`PRAGMA wal_checkpoint(${mode})`);
    } finally {
      database.close();
    }
  };
  parentPort?.on("message", (mode) => {
    try {
      move(mode);
    } catch {
      // A full disk, a locked file: what was committed stays in the WAL, and is moved another time.
    }
    parentPort.postMessage("moved");
  });
};
