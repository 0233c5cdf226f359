/**
 * Views in one SQLite file, through node:sqlite, which both Bun and Deno have.
 *
 * WAL with synchronous=NORMAL: a power failure may lose the last commits, but only whole ones, rows and position together, and the log still has the
 * records. So a view needs no fsync per commit; only the log does.
 *
 * One connection writes, another reads: a read sees the last commit and never a part of one, even while a commit is being written.
 */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { SNAPSHOT_ROWS, VIEW_BUSY_MS_MAX } from "../limits.ts";
import type { QueryParameter } from "./conditions.ts";
import { inSlices } from "./in-slices.ts";
import { DEAD_LETTERS_PAGE, rowSql, VIEW_NAMES } from "./sql.ts";
import { type AbsentKeys, createAbsentKeys } from "./sqlite-absent-keys.ts";
import {
  constraintMessage,
  createStatements,
  createTransactions,
  isBusy,
  type Statements,
  type Transactions,
} from "./sqlite-connection.ts";
import { createLeftoverDropper } from "./sqlite-leftovers.ts";
import { getRow, getRows, runWrites } from "./sqlite-rows.ts";
import { createTableChanges, stands } from "./sqlite-table-changes.ts";
import { makeOwnTables } from "./sqlite-tables.ts";
import { sqlitePacked, sqliteTermsOf } from "./sqlite-terms.ts";
import {
  createWalMover,
  fileBytes,
  PAGE_BYTES,
  startWalThread,
  WAL_PAGES_MAX,
  walPages,
} from "./sqlite-wal.ts";
import { createWordsWith, sqliteTerms, type WordsWith } from "./sqlite-words.ts";
import { deadLetterWrite, fromStored, isSameRow, storedParameter, toStored } from "./stored-rows.ts";
import { keyValues, type Row, rowInteger, rowText, type Table } from "./tables.ts";
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
  type Write,
} from "./view-store.ts";

export const createSqliteViews = ({
  path,
  onMoverEnded = () => {},
  onLeftover = () => {},
}: {
  readonly path: string;
  /** The thread that empties the WAL could not start, or ended, and why. It is started again. */
  readonly onMoverEnded?: (detail: string) => void;
  /** Why the old tables of a view cannot be dropped now. It is retried. */
  readonly onLeftover?: (detail: string) => void;
}): ViewStore => {
  const { writer, reader } = connect(path);
  const write = createStatements(writer);
  const read = createStatements(reader);
  const wal = createWalMover(
    path,
    { count: () => walPages(read), bytes: () => fileBytes(write) },
    { start: startWalThread, elapsedMs: () => performance.now(), onEnded: onMoverEnded },
  );
  const transactions = createTransactions(write, wal);
  const absentKeys = createAbsentKeys({ write, read, between: transactions.between });
  const leftovers = createLeftoverDropper({ path, between: transactions.between, onFailed: onLeftover });

  const position = async (name: string): Promise<number> => {
    const known = getRow(read, VIEWS, { name });
    return known ? rowInteger(known, "position") : 0;
  };

  const standsAs = ({ table, key, row }: Expectation): boolean => isSameRow(getRow(write, table, key), row);

  const writeAll = (writes: readonly Write[]): Promise<void> => {
    absentKeys.written(writes);
    return runWrites(write, writes);
  };
  const commits = createCommits({
    write,
    writeAll,
    loadWritten: absentKeys.load,
    transactions,
    position,
    standsAs,
    dropLeftovers: leftovers.drop,
  });

  const revise = ({ views, expected, writes }: ViewRevision): Promise<RevisionResult> =>
    transactions.run<RevisionResult>(async () => {
      const isCurrent = (view: ViewDefinition): boolean =>
        stands(getRow(write, VIEWS, { name: view.name }), view);
      if (!(views.every(isCurrent) && expected.every(standsAs)))
        return { result: { kind: "outdated" }, keep: false };
      await writeAll(writes);
      return { result: { kind: "revised" }, keep: true };
    });

  const giveUp = (): void => {
    absentKeys.close();
    leftovers.end();
    transactions.giveUp();
  };

  const close = async (): Promise<void> => {
    absentKeys.close();
    leftovers.end();
    await transactions.ended();
    await wal.close();
    for (const connection of [reader, writer]) if (connection.isOpen) connection.close();
  };

  return {
    position,
    ...createTableChanges({ writer, write, read, transactions, wal, leftovers, absentKeys }),
    ...commits,
    packed: sqlitePacked,
    recordsMax: wal.recordsMax,
    revise,
    load: createLoad({ read, write, loadWritten: absentKeys.load, transactions }),
    select: createSelect(reader, read),
    names: async () =>
      read(VIEW_NAMES)
        .all()
        .map((row) => rowText(fromStored(row), "name")),
    termsOf: sqliteTermsOf,
    snapshot: (view, visit) => inSnapshot(path, view, visit),
    deadLetters: async (...asked) =>
      read(DEAD_LETTERS_PAGE)
        .all(...asked)
        .map(fromStored),
    giveUp,
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

const createCommits = (parts: CommitParts): Pick<ViewStore, "commit" | "together"> => {
  const { write, writeAll, loadWritten, transactions, position, standsAs, dropLeftovers } = parts;
  /** Inside the open transaction. */
  const move = async (moving: ViewCommit): Promise<CommitResult> => {
    const { views, from, to, writes, deadLetters, expected = [] } = moving;
    for (const { name, version } of views) {
      const { changes } = write(MOVE_POSITION).run(to, name, version, from);
      if (Number(changes) !== 1) return { kind: "superseded", view: name, position: await position(name) };
    }
    if (!expected.every(standsAs)) return { kind: "outdated" };
    await writeAll(writes);
    await writeAll(deadLetters.map(deadLetterWrite));
    return { kind: "committed" };
  };
  const inTransaction = async (work: () => Promise<CommitResult>): Promise<CommitResult> => {
    try {
      const moved = await transactions.run(async () => {
        const result = await work();
        return { result, keep: result.kind === "committed" };
      });
      if (moved.kind === "committed") dropLeftovers();
      return moved;
    } catch (error) {
      const detail = constraintMessage(error);
      if (detail !== undefined) return { kind: "unwritable", detail };
      // If the disk has no room for the commit, dropping leftovers may free some.
      dropLeftovers();
      throw error;
    }
  };
  const load: ViewStore["load"] = async (...asked) => loadWritten(...asked);
  return {
    commit: (moving) => inTransaction(() => move(moving)),
    together: (work) => inTransaction(() => work({ load, commit: move })),
  };
};

interface CommitParts {
  readonly write: Statements;
  readonly writeAll: (writes: readonly Write[]) => Promise<void>;
  readonly loadWritten: AbsentKeys["load"];
  readonly transactions: Transactions;
  readonly position: ViewStore["position"];
  readonly standsAs: (expectation: Expectation) => boolean;
  readonly dropLeftovers: () => void;
}

/**
 * Between transactions it reads through the writing connection: the other one forgets its pages after every commit (1.5 µs per projected event,
 * measured).
 */
const createLoad = ({
  read,
  write,
  loadWritten,
  transactions,
}: {
  readonly read: Statements;
  readonly write: Statements;
  readonly loadWritten: AbsentKeys["load"];
  readonly transactions: Transactions;
}): ViewStore["load"] => {
  const loadRead: AbsentKeys["load"] = (...asked) => inOneRead(read, () => getRows(read, ...asked));
  // Nothing in it awaits, so no transaction begins meanwhile.
  return async (...asked) => {
    if (transactions.isOpen) return loadRead(...asked);
    try {
      return inOneRead(write, () => loadWritten(...asked));
    } catch (error) {
      // If another process has locked the file exclusively, the writer does not wait, but the reader does.
      if (!isBusy(error)) throw error;
      return loadRead(...asked);
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
        const key = keyValues(table, last).map(toStored);
        page = statements(sql.nextPage)
          .all(...key, SNAPSHOT_ROWS)
          .map(fromStored);
      }
    }
    const load: Snapshot["load"] = async (...asked) => getRows(statements, ...asked);
    const select = createSelect(database, statements);
    const visitTerms: Snapshot["visitTerms"] = (index, seen) =>
      inSlices(sqliteTerms(database, index), ({ term, sequence }) => seen(term, sequence));
    return await visit({
      position: known ? rowInteger(known, "position") : 0,
      rows,
      load,
      select,
      visitTerms,
    });
  } finally {
    database.close();
  }
};

/**
 * The writer's page cache. Indexes on ids touch pages all over the file: with a million events, projecting takes a seventh less than with 64 MiB, and
 * no less with 512 (measured). SQLite allocates it as needed.
 */
const PAGE_CACHE_KIB = 256 * 1024;

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
  writer.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}`);
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
