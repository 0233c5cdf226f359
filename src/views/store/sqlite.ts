/**
 * Views in one SQLite file, through node:sqlite, which both Bun and Deno have.
 *
 * WAL with synchronous=NORMAL: a power failure may lose the last commits, but only whole ones, rows and position together, and the log still has the
 * records. So a view needs no fsync per commit; only the log does.
 *
 * One connection writes, another reads: a read sees the last commit and never a part of one, even while a commit is being written.
 */
import { closeSync, openSync, statfsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { SNAPSHOT_ROWS, VIEW_BUSY_MS_MAX } from "../../limits.ts";
import type { QueryParameter } from "./conditions.ts";
import { DEAD_LETTERS_PAGE, rowSql, VIEW_NAMES } from "./sql.ts";
import {
  constraintMessage,
  createStatements,
  createTransactions,
  isBusy,
  type Statements,
  type Transactions,
} from "./sqlite-connection.ts";
import { getRow, getRows, runWrites } from "./sqlite-rows.ts";
import { createTableChanges, stands } from "./sqlite-table-changes.ts";
import { makeOwnTables } from "./sqlite-tables.ts";
import { createWordsWith, type WordsWith } from "./sqlite-words.ts";
import { deadLetterWrite, fromStored, isSameRow, storedParameter } from "./stored-rows.ts";
import { storedKey } from "./stored-values.ts";
import { type Row, rowInteger, rowText, type Table } from "./tables.ts";
import { sqliteMatchText } from "./text-index.ts";
import {
  type CommitResult,
  type Expectation,
  type RevisionResult,
  type Snapshot,
  VIEWS,
  type ViewCommit,
  type ViewDefinition,
  type ViewRevision,
  type ViewStore,
} from "./view-store.ts";

export const createSqliteViews = ({ path }: { readonly path: string }): ViewStore => {
  const { writer, reader } = connect(path);
  const write = createStatements(writer);
  const read = createStatements(reader);
  const transactions = createTransactions(write, {
    isNarrow: () => freeBytes(path) < WAL_PAGES * PAGE_BYTES,
    checkFits: () => checkFits(path, write),
  });

  const position = async (name: string): Promise<number> => {
    const known = getRow(read, VIEWS, { name });
    return known ? rowInteger(known, "position") : 0;
  };

  const standsAs = ({ table, key, row }: Expectation): boolean => isSameRow(getRow(write, table, key), row);

  const commit = createCommit({ write, transactions, position, standsAs });

  const revise = ({ views, expected, writes }: ViewRevision): Promise<RevisionResult> =>
    transactions.run<RevisionResult>(async () => {
      const isCurrent = (view: ViewDefinition): boolean =>
        stands(getRow(write, VIEWS, { name: view.name }), view);
      if (!(views.every(isCurrent) && expected.every(standsAs)))
        return { result: { kind: "outdated" }, keep: false };
      await runWrites(write, writes);
      return { result: { kind: "revised" }, keep: true };
    });

  const close = async (): Promise<void> => {
    await transactions.ended();
    for (const connection of [reader, writer]) if (connection.isOpen) connection.close();
  };

  return {
    position,
    ...createTableChanges({ writer, write, read, transactions }),
    commit,
    revise,
    load: createLoad({ read, write, transactions }),
    select: createSelect(reader, read),
    names: async () =>
      read(VIEW_NAMES)
        .all()
        .map((row) => rowText(fromStored(row), "name")),
    snapshot: (view, visit) => inSnapshot(path, view, visit),
    deadLetters: async (...asked) =>
      read(DEAD_LETTERS_PAGE)
        .all(...asked)
        .map(fromStored),
    giveUp: transactions.giveUp,
    close,
    [Symbol.asyncDispose]: close,
  };
};

const createSelect = (database: DatabaseSync, read: Statements): ViewStore["select"] => {
  const wordsWith = createWordsWith(database, read);
  return async ({ sql, params }) =>
    read(sql)
      .all(...params.map((parameter) => parameterWith(parameter, wordsWith)))
      .map(fromStored);
};

const createCommit = ({
  write,
  transactions,
  position,
  standsAs,
}: {
  readonly write: Statements;
  readonly transactions: Transactions;
  readonly position: ViewStore["position"];
  readonly standsAs: (expectation: Expectation) => boolean;
}): ViewStore["commit"] => {
  /** Inside the open transaction. */
  const move = async (moving: ViewCommit): Promise<CommitResult> => {
    const { views, from, to, writes, deadLetters, expected = [] } = moving;
    for (const { name, version } of views) {
      const { changes } = write(MOVE_POSITION).run(to, name, version, from);
      if (Number(changes) !== 1) return { kind: "superseded", view: name, position: await position(name) };
    }
    if (!expected.every(standsAs)) return { kind: "outdated" };
    await runWrites(write, [...writes, ...deadLetters.map(deadLetterWrite)]);
    return { kind: "committed" };
  };
  return async (moving) => {
    try {
      return await transactions.run(async () => {
        const result = await move(moving);
        return { result, keep: result.kind === "committed" };
      });
    } catch (error) {
      const detail = constraintMessage(error);
      if (detail === undefined) throw error;
      return { kind: "unwritable", detail };
    }
  };
};

/** Between transactions it reads through the writing connection: the other one forgets its pages after every commit. */
const createLoad = ({
  read,
  write,
  transactions,
}: {
  readonly read: Statements;
  readonly write: Statements;
  readonly transactions: Transactions;
}): ViewStore["load"] => {
  // Nothing in it awaits, so no transaction begins meanwhile.
  return async (...asked) => {
    const through = (statements: Statements) => inOneRead(statements, () => getRows(statements, ...asked));
    if (transactions.isOpen) return through(read);
    try {
      return through(write);
    } catch (error) {
      // If another process has locked the file exclusively, the writer does not wait, but the reader does.
      if (!isBusy(error)) throw error;
      return through(read);
    }
  };
};

/** On a connection of its own, because a read transaction stays open as long as the caller looks at it. */
const inSnapshot = async <Result>(
  path: string,
  view: ViewDefinition,
  visit: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> => {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.exec(`PRAGMA busy_timeout = ${VIEW_BUSY_MS_MAX}`);
    database.exec("BEGIN");
    const statements = createStatements(database);
    const known = getRow(statements, VIEWS, { name: view.name });
    async function* rows(table: Table): AsyncGenerator<readonly Row[]> {
      const sql = rowSql(table);
      let page = statements(sql.firstPage).all(SNAPSHOT_ROWS).map(fromStored);
      while (page.length > 0) {
        yield page;
        const last = page.at(-1);
        if (!last || page.length < SNAPSHOT_ROWS) return;
        const key = Object.fromEntries(table.primaryKey.map((name) => [name, last[name] ?? null]));
        page = statements(sql.nextPage)
          .all(...storedKey(table, key), SNAPSHOT_ROWS)
          .map(fromStored);
      }
    }
    const load: Snapshot["load"] = async (...asked) => getRows(statements, ...asked);
    const select = createSelect(database, statements);
    return await visit({ position: known ? rowInteger(known, "position") : 0, rows, load, select });
  } finally {
    database.close();
  }
};

/** The writer's page cache. Indexes on ids touch pages all over the file. SQLite allocates it as needed. */
const PAGE_CACHE_KIB = 64 * 1024;

/** The page size of a new file. Writing takes a seventh less than with SQLite's default of 4096 (measured). */
const PAGE_BYTES = 8192;

/** Pages in the WAL from which on a commit moves them into the file, and waits for the disk: 128 MiB. With a quarter of it projecting takes a third longer on a busy disk (measured). */
const WAL_PAGES = 16_384;

/** What commits leave free on the disk, so that the broker continues and existing rows can be changed. */
const DISK_RESERVE_BYTES = 6 * 1024 * 1024;

/**
 * Pages of the WAL that the file has no room for could never be moved there, and would keep the disk full. Each new page needs its space twice, in the WAL
 * and in the file.
 */
const checkFits = (path: string, statements: Statements): void => {
  const { page_count, page_size } = fromStored(statements(FILE_SIZE).get() ?? {});
  const missing = Number(page_count) * Number(page_size) - statSync(path).size;
  if (missing <= 0) return;
  if (freeBytes(path) < 2 * missing + DISK_RESERVE_BYTES)
    throw new Error("the disk has no room for it in the WAL and in the file");
};

const freeBytes = (path: string): number => {
  try {
    const { bavail, blocks, bsize } = statfsSync(path);
    // Some file systems do not report their free space.
    return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY;
  } catch {
    // The file is gone, which SQLite reports.
    return Number.POSITIVE_INFINITY;
  }
};

const FILE_SIZE = "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size";

/**
 * The file contains every event of every tenant. Files that SQLite makes beside it get its mode. Only a new file is opened here: closing a descriptor
 * of an existing one would release the locks that this process has on it (sqlite.org/howtocorrupt.html §2.2).
 */
const makePrivate = (path: string): void => {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // It exists, or opening it as a database will report why it cannot exist.
  }
};

const connect = (path: string) => {
  makePrivate(path);
  const writer = new DatabaseSync(path);
  writer.exec(`PRAGMA busy_timeout = ${VIEW_BUSY_MS_MAX}`);
  writer.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  writer.exec("PRAGMA journal_mode = WAL");
  writer.exec("PRAGMA synchronous = NORMAL");
  writer.exec(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  writer.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
  writer.exec(`PRAGMA journal_size_limit = ${WAL_PAGES * PAGE_BYTES}`);
  makeOwnTables(writer);
  // From here on transactions wait for the lock themselves.
  writer.exec("PRAGMA busy_timeout = 0");
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec(`PRAGMA busy_timeout = ${VIEW_BUSY_MS_MAX}`);
  return { writer, reader };
};

/** A view advances only from where the writer believes it to be, and only if it has the writer's version. */
const MOVE_POSITION = "UPDATE views SET position = ? WHERE name = ? AND version = ? AND position = ?";

/** One lock on the file for all of them: a lock for each costs as much as the read. */
const inOneRead = <Result>(statements: Statements, work: () => Result): Result => {
  statements("BEGIN").run();
  try {
    return work();
  } finally {
    statements("COMMIT").run();
  }
};

/**
 * Separate from the store so that a test can ask the database for its plan. Bun binds every number as a real, and FTS5 reads all rows up to a bound
 * that is no integer (measured with 3.54).
 */
export const sqliteParameter = (parameter: QueryParameter): string | number | bigint =>
  parameterWith(parameter, () => undefined);

const parameterWith = (parameter: QueryParameter, wordsWith: WordsWith): string | number | bigint => {
  if (typeof parameter === "object")
    return sqliteMatchText(parameter, (beginning) => wordsWith(parameter.index, beginning));
  return Number.isSafeInteger(parameter) ? BigInt(parameter) : storedParameter(parameter);
};
