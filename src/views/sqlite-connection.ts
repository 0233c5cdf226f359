/** One SQLite connection: its prepared statements, and transactions that neither overlap nor stop the process while they wait. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { VIEW_BUSY_MS_MAX, VIEW_STATEMENTS_CACHED_MAX } from "../limits.ts";
import { createTurns } from "../turns/turns.ts";
import type { Done } from "./done.ts";

export type Statements = (sql: string) => StatementSync;

/** SQL text → prepared statement, the least recently used forgotten first. */
export const createStatements = (database: DatabaseSync): Statements => {
  const prepared = new Map<string, StatementSync>();
  let last: { readonly sql: string; readonly statement: StatementSync } | undefined;
  return (sql) => {
    // Rows of one table follow each other.
    if (last?.sql === sql) return last.statement;
    const statement = prepared.get(sql) ?? database.prepare(sql);
    last = { sql, statement };
    // A Map keeps the order of insertion: what is put back last stands last.
    prepared.delete(sql);
    prepared.set(sql, statement);
    const [oldest] = prepared.keys();
    if (prepared.size > VIEW_STATEMENTS_CACHED_MAX && oldest !== undefined) prepared.delete(oldest);
    return statement;
  };
};

export interface Transactions {
  /** What the connection reads now is not committed yet. */
  readonly isOpen: boolean;
  /** They run one after another, even where their work awaits. Undone where the work throws. */
  run<Result>(work: () => Promise<Done<Result>>): Promise<Result>;
  /** What another connection does, while none of these is open. */
  between<Result>(work: () => Promise<Result>): Promise<Result>;
  /** From now on none waits for another process. */
  giveUp(): void;
  /** Resolves when all that were asked for so far have ended. */
  ended(): Promise<void>;
}

/** Who cares for what transactions leave on the disk (sqlite-wal.ts). */
export interface Room {
  /** Resolves when a next transaction may begin, which is at once unless the disk is nearly full. */
  room(): Promise<void>;
  /** Rejects where what the open transaction has written would be too much for the disk. */
  checkFits(): Promise<void>;
  committed(): void;
  /** Something could not be written, which a full disk may be the cause of. */
  failed(): void;
}

export const createTransactions = (
  statements: Statements,
  { room, checkFits, committed, failed }: Room,
): Transactions => {
  const inTurn = createTurns();
  let isOpen = false;
  let isGivenUp = false;
  const begin = (): void => {
    statements("BEGIN IMMEDIATE").run();
    isOpen = true;
  };
  const doInOne = async <Result>(work: () => Promise<Done<Result>>): Promise<Done<Result>> => {
    await beginWhenFree(begin, () => isGivenUp);
    let isKept = false;
    try {
      const done = await work();
      if (done.keep) {
        await checkFits();
        statements("COMMIT").run();
      }
      isKept = done.keep;
      return done;
    } finally {
      if (!isKept) rollBack(statements("ROLLBACK"));
      isOpen = false;
    }
  };
  return {
    get isOpen() {
      return isOpen;
    },
    run: (work) =>
      inTurn(async () => {
        await room();
        try {
          const { result, keep } = await doInOne(work);
          if (keep) committed();
          return result;
        } catch (error) {
          if (!isBusy(error) && constraintMessage(error) === undefined) failed();
          throw error;
        }
      }),
    between: inTurn,
    giveUp: () => {
      isGivenUp = true;
    },
    ended: () => inTurn(async () => undefined),
  };
};

const SQLITE_BUSY = 5;
const SQLITE_CONSTRAINT = 19;
const BUSY_POLL_MS = 5;

/** Needs busy_timeout = 0: SQLite's own waiting would stop the whole process, the holder of the lock included. */
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

const rollBack = (statement: StatementSync): void => {
  try {
    statement.run();
  } catch {
    // After some failures, a full disk for one, SQLite has already rolled back (sqlite.org/lang_transaction.html).
  }
};

/** Primary result code: the low byte (sqlite.org/rescode.html). Deno 2.9 gives it for prepared statements, not for exec. */
const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;

/** SQLite's message where a row breaks its table, which names table and columns and no value; else undefined. */
export const constraintMessage = (error: unknown): string | undefined =>
  error instanceof Error && resultCode(error) === SQLITE_CONSTRAINT ? error.message : undefined;
