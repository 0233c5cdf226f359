/** One SQLite connection: its prepared statements, and transactions that neither overlap nor block the process while they wait. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import { VIEW_BUSY_MS_MAX, VIEW_STATEMENTS_CACHED_MAX } from "../../limits.ts";
import type { Done } from "./stored-views.ts";

export type Statements = (sql: string) => StatementSync;

/** Prepared statements by SQL text. Lists have any number of filters: when there are too many statements, all are prepared again. */
export const createStatements = (database: DatabaseSync): Statements => {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const known = prepared.get(sql);
    if (known) return known;
    if (prepared.size === VIEW_STATEMENTS_CACHED_MAX) prepared.clear();
    const statement = database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
};

export interface Transactions {
  /** Whether reads on this connection now see uncommitted data. */
  readonly isOpen: boolean;
  /** Transactions run one after another, even if their work awaits. Rolled back if the work throws. */
  run<Result>(work: () => Promise<Done<Result>>): Promise<Result>;
  /** From now on no transaction waits for another process. */
  giveUp(): void;
  /** Resolves when all transactions requested so far have ended. */
  ended(): Promise<void>;
}

export interface Disk {
  /** Whether it has too little room for a WAL of its usual size, which is then emptied before each transaction. */
  isNarrow(): boolean;
  /** Throws if the open transaction has written too much for the disk. */
  checkFits(): void;
}

export const createTransactions = (statements: Statements, disk: Disk): Transactions => {
  const inTurn = pLimit(1);
  let isOpen = false;
  let isGivenUp = false;
  const begin = (): void => {
    statements("BEGIN IMMEDIATE").run();
    isOpen = true;
  };
  const doInOne = async <Result>(work: () => Promise<Done<Result>>): Promise<Result> => {
    await beginWhenFree(begin, () => isGivenUp);
    let isKept = false;
    try {
      const { result, keep } = await work();
      if (keep) {
        disk.checkFits();
        statements("COMMIT").run();
      }
      isKept = keep;
      return result;
    } finally {
      if (!isKept) quietly(statements, "ROLLBACK");
      isOpen = false;
    }
  };
  return {
    get isOpen() {
      return isOpen;
    },
    run: (work) =>
      inTurn(async () => {
        if (disk.isNarrow()) quietly(statements, EMPTY_WAL);
        try {
          return await doInOne(work);
        } catch (error) {
          // Perhaps the disk is full: pages that are in the file already need no room in the WAL.
          if (!isBusy(error) && constraintMessage(error) === undefined) quietly(statements, EMPTY_WAL);
          throw error;
        }
      }),
    giveUp: () => {
      isGivenUp = true;
    },
    ended: () => inTurn(async () => undefined),
  };
};

const EMPTY_WAL = "PRAGMA wal_checkpoint(TRUNCATE)";
const SQLITE_BUSY = 5;
const SQLITE_CONSTRAINT = 19;
const BUSY_POLL_MS = 5;

/** Requires busy_timeout = 0: SQLite's own waiting would block the whole process, including the holder of the lock. */
const beginWhenFree = async (begin: () => void, isGivenUp: () => boolean): Promise<void> => {
  const deadline = performance.now() + VIEW_BUSY_MS_MAX;
  for (;;) {
    try {
      begin();
      return;
    } catch (error) {
      if (!isBusy(error) || isGivenUp() || performance.now() > deadline) throw error;
    }
    await delay(BUSY_POLL_MS);
  }
};

/** Another connection holds the lock. */
export const isBusy = (error: unknown): boolean => resultCode(error) === SQLITE_BUSY;

/** After some failures, such as a full disk, SQLite has already rolled back (sqlite.org/lang_transaction.html). */
const quietly = (statements: Statements, sql: string): void => {
  try {
    statements(sql).run();
  } catch {
    // The failure that led here is reported.
  }
};

/** The primary result code: the low byte (sqlite.org/rescode.html). Deno 2.9 provides it for prepared statements, not for exec. */
const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;

/** SQLite's message if a row violates its table; it names table and columns but no value. Undefined for other errors. */
export const constraintMessage = (error: unknown): string | undefined =>
  error instanceof Error && resultCode(error) === SQLITE_CONSTRAINT ? error.message : undefined;
