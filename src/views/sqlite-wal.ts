/**
 * Moves committed pages from the WAL of a SQLite file into the file while the process continues. A commit that does so itself waits for the disk:
 * that takes a tenth of the time of projecting, and requests wait for 0.2 s (measured). Moving pages needs no lock of writers or readers
 * (sqlite.org/wal.html calls it a checkpoint; here that word means a tree head), so a thread does it, which is started when it is first needed.
 */
import { statfsSync, statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { VIEW_WAL_PAGES } from "../limits.ts";
import type { Room, Statements } from "./sqlite-connection.ts";
import { fromStored } from "./stored-rows.ts";

export interface WalMover extends Room {
  /**
   * Limits the WAL to what the file has room for: otherwise it could not be emptied any more and would keep the disk full. The WAL grows while a
   * reader looks at one state for long.
   */
  checkFits(): Promise<void>;
  /** Moves pages if enough of them wait, unless they are being moved already. */
  committed(): void;
  /** Gives back as much of the WAL's disk space as possible. */
  failed(): void;
  /** The number of records that write no more than can be moved into the file afterwards: pages in the WAL that fill the disk stay there. */
  recordsMax(): number;
  /** Whether the disk has too little room for a WAL of the maximum size. */
  isNarrow(): boolean;
  /** Resolves when no pages are being moved; none will be moved afterwards. */
  close(): Promise<void>;
}

/** What the file's connections know. */
interface Ask {
  count(): WalPages;
  /** Size of the file when everything is moved into it, including the open transaction. */
  bytes(): number;
}

/** Pages of the WAL, and how many of them are not in the file yet. */
export interface WalPages {
  readonly all: number;
  readonly waiting: number;
}

/**
 * Pages in the WAL from which on a commit moves the waiting pages itself, which waits for the disk for about 0.4 s (measured): 625 MiB. A commit of a
 * projector that is far behind writes up to 64,000 pages, and the thread moves these meanwhile. While commits follow one another the WAL does grow to
 * that size: SQLite starts it over only if a commit finds no waiting pages.
 */
export const WAL_PAGES_MAX = 80_000;

/** The page size of a new file. Writing takes a seventh less than with SQLite's default of 4096, and as much as with 16384 (measured). */
export const PAGE_BYTES = 8192;

/**
 * If the disk has no room for such a WAL, this much of it is moved and given back before the next commit: 8 MiB, or an eighth of the free space. The
 * file leaves as much free: existing rows can then be changed, and the broker continues.
 */
const TIGHT_WAL_PAGES = 1000;
const TIGHT_WAL_SHARE = 1 / 8;

/**
 * Pages per record of a commit with a hundred records, which is more than with thousands (measured). Each page may need its space twice: in the WAL,
 * and in the file.
 */
const PAGES_PER_RECORD = 4;

/** Pause before the thread is started again; doubled each time, up to the second value. */
export const WAL_THREAD_RETRY_MS = 1_000;
const WAL_THREAD_RETRY_MS_MAX = 60_000;

/** The thread, and the callbacks about it. */
export interface WalThread {
  readonly start: (path: string) => Worker;
  readonly elapsedMs: () => number;
  /** The thread could not start, or ended. Reported once until it has moved pages again. */
  readonly onEnded: (detail: string) => void;
}

/**
 * The number of rows does not say how many pages must be moved: a commit of 8000 records writes half a page for each, one of a hundred records writes
 * four (measured). While the thread cannot start or has ended, the writer's own commits move the pages as soon as there are too many
 * (wal_autocheckpoint), and the thread is started again at growing intervals.
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
    // The exit event follows an error.
    const endedOnce = (reason: string): void => void (worker === started && ended(reason));
    started
      .on("message", () => {
        [retryMs, isTold] = [WAL_THREAD_RETRY_MS, false];
        moved();
      })
      .on("error", (error) => endedOnce(String(error)))
      .on("exit", (code) => endedOnce(`it exited with ${code}`));
    // The thread does not keep the process alive.
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
      // The commit that asks for it is already done.
      ended(String(error));
    }
  };
  const fits = (): boolean => {
    const missing = bytes() - statSync(path).size;
    // Pages that are yet to be written go into the WAL first, too.
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
      // Committed pages may be moved while the transaction is open.
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
    // Some file systems do not report their free space.
    return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
};

/** A failure here must not fail a finished commit: it is asked again after the next one. */
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

/**
 * Moves nothing, and reports what there is to move (SQLite 3.51; an older version does not know the mode and moves everything). Of `log` pages,
 * `checkpointed` have been moved.
 */
const WAL_PAGES = "PRAGMA wal_checkpoint(NOOP)";

/** The whole thread, passed as text, so that an executable needs no file for it. */
const moveWhenAsked = async (): Promise<void> => {
  const { DatabaseSync } = await import("node:sqlite");
  const { parentPort, workerData } = await import("node:worker_threads");
  const move = (mode: string): void => {
    // Opened anew each time: whoever closes the file last needs exclusive access.
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
      // A full disk or a locked file: committed pages stay in the WAL, and are moved another time.
    }
    parentPort.postMessage("moved");
  });
};
