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
import { PREFIX_WORDS_MAX, VIEW_BUSY_MS_MAX, VIEW_WRITE_SLICE_MS_MAX } from "../../limits.ts";
import { createPauses } from "../../runtime/pauses.ts";
import type { QueryParameter } from "./conditions.ts";
import {
  constraintMessage,
  createStatements,
  createTransactions,
  isBusy,
  type Statements,
} from "./sqlite-connection.ts";
import { createStoredViews, type Reading } from "./stored-views.ts";
import {
  columnName,
  fromStored,
  insertSql,
  type Row,
  rowText,
  sqlName,
  storing,
  type Table,
  tableDdl,
  toStored,
} from "./tables.ts";
import {
  createRowTerms,
  sqliteMatchText,
  sqliteTermsText,
  sqliteTextIndexDdl,
  type TextIndex,
} from "./text-index.ts";
import { isTextWrite, OWN_TABLES, type ViewStore, type WhichRows, type Write } from "./view-store.ts";

export const createSqliteViews = ({ path }: { readonly path: string }): ViewStore => {
  const { writer, reader } = connect(path);
  const write = createStatements(writer);
  const { load: loadThrough, runWrites } = createSqliteRows();
  const transactions = createTransactions(write, {
    isNarrow: () => freeBytes(path) < WAL_PAGES * PAGE_BYTES,
    checkFits: () => checkFits(path, write),
  });
  const readingOf = (database: DatabaseSync, statements: Statements): Reading => {
    const wordsWith = createWordsWith(database, statements);
    return {
      rows: async (sql, values = []) => statements(sql).all(...values.map(toStored)),
      load: async (...asked) => inOneRead(statements, () => loadThrough(statements, ...asked)),
      select: async ({ sql, params }) =>
        statements(sql)
          .all(...params.map((parameter) => parameterWith(parameter, wordsWith)))
          .map(fromStored),
    };
  };
  const reading = readingOf(reader, createStatements(reader));
  const betweenTransactions = readingOf(writer, write);
  /** Between transactions it reads through the writing connection: the other one forgets its pages after every commit. */
  const load: Reading["load"] = async (...asked) => {
    if (transactions.isOpen) return reading.load(...asked);
    try {
      return await betweenTransactions.load(...asked);
    } catch (error) {
      // If another process has locked the file exclusively, the writer does not wait, but the reader does.
      if (!isBusy(error)) throw error;
      return reading.load(...asked);
    }
  };
  return createStoredViews({
    reading: { ...reading, load },
    own: reading,
    ready: async () => undefined,
    transaction: (work) =>
      transactions.run(() =>
        work({
          ...betweenTransactions,
          load: async (...asked) => loadThrough(write, ...asked),
          write: (writes) => runWrites(write, writes),
          define: async (statements) => {
            for (const sql of statements) writer.exec(sql);
          },
        }),
      ),
    // On a connection of its own, because a read transaction stays open as long as the caller looks at it.
    snapshot: async (_, visit) => {
      const database = new DatabaseSync(path, { readOnly: true });
      try {
        database.exec(`PRAGMA busy_timeout = ${VIEW_BUSY_MS_MAX}`);
        database.exec("BEGIN");
        const statements = createStatements(database);
        const load: Reading["load"] = async (...asked) => loadThrough(statements, ...asked);
        return await visit({ ...readingOf(database, statements), load });
      } finally {
        database.close();
      }
    },
    tableDdl: sqliteTableDdl,
    textIndexDdl: sqliteTextIndexDdl,
    // A transaction that writes has the whole file.
    lockingRows: "",
    lockSchema: [],
    lockTables: () => [],
    beforeReplacing: [],
    constraintMessage,
    giveUp: transactions.giveUp,
    close: async () => {
      await transactions.ended();
      for (const connection of [reader, writer]) if (connection.isOpen) connection.close();
    },
  });
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

/** Checked again inside the transaction: another process may have made them meanwhile. */
const makeOwnTables = (writer: DatabaseSync): void => {
  const table = writer.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  const missing = () => OWN_TABLES.filter(({ name }) => table.get(name) === undefined);
  if (missing().length === 0) return;
  writer.exec("BEGIN IMMEDIATE");
  for (const sql of missing().flatMap(sqliteTableDdl)) writer.exec(sql);
  writer.exec("COMMIT");
};

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
  return Number.isSafeInteger(parameter) ? BigInt(parameter) : toStored(parameter);
};

type WordsWith = (index: TextIndex, beginning: string) => readonly string[] | undefined;

/**
 * Undefined if there are too many. For a prefix, FTS5 first gathers every row of every word with it; for one of several words, it reads only as far
 * as the page goes. So the words are looked up before: 0.1 s for 5,000,000 rows instead of 0.5 s (measured).
 */
const createWordsWith = (database: DatabaseSync, statements: Statements): WordsWith => {
  const known = new Set<string>();
  return (index, beginning) => {
    const { name } = index;
    if (!known.has(name)) makeTermTable(database, index);
    known.add(name);
    const next = statements(`SELECT term FROM ${termTable(index)} WHERE term >= ? LIMIT 1`);
    const found: string[] = [];
    let from = beginning;
    for (;;) {
      const row = next.get(from);
      const term = row === undefined ? undefined : rowText(fromStored(row), "term");
      if (!term?.startsWith(beginning)) return found;
      if (found.length === PREFIX_WORDS_MAX) return undefined;
      found.push(term);
      // The smallest greater word: one row is read for each word, however many it has.
      from = `${term}\x01`;
    }
  };
};

/** A temporary table of the connection, so that nothing of it is in the file. It finds its index by name whenever it is read. */
const makeTermTable = (database: DatabaseSync, index: TextIndex): void =>
  database.exec(
    `CREATE VIRTUAL TABLE ${termTable(index)} USING fts5vocab (main, ${sqlName(index.name)}, instance)`,
  );

const termTable = ({ name }: TextIndex): string => `temp.${sqlName(`${name}_terms`)}`;

type SqliteSql = ReturnType<typeof makeSql>;

const createSqliteRows = () => {
  /** Made once per table, because it is needed for every row. */
  const made = new WeakMap<Table, SqliteSql>();
  const sqlOf = (table: Table): SqliteSql => {
    const sql = made.get(table) ?? makeSql(table);
    made.set(table, sql);
    return sql;
  };
  return {
    /**
     * Makes the writes in order, and lets requests be answered meanwhile: a group of 1000 records takes tens of milliseconds. The transaction must be
     * rolled back if one of them fails.
     */
    runWrites: async (statements: Statements, writes: readonly Write[]): Promise<void> => {
      const rowTerms = createRowTerms();
      const pause = createPauses(VIEW_WRITE_SLICE_MS_MAX);
      const run = (write: Write): void => {
        if (!isTextWrite(write)) {
          const { kind, table } = write;
          const sql = sqlOf(table);
          const values = kind === "delete" ? sql.keyOf(write.key) : sql.rowOf(write.row);
          statements(sql[kind]).run(...values);
          return;
        }
        const name = sqlName(write.index.name);
        if (write.kind === "unindex") statements(`DELETE FROM ${name} WHERE rowid = ?`).run(write.sequence);
        // Without OR REPLACE, FTS5 accepts a rowid a second time and finds it by the words of both (measured with 3.54).
        else
          statements(`INSERT OR REPLACE INTO ${name} (rowid, terms) VALUES (?, ?)`).run(
            write.sequence,
            sqliteTermsText(rowTerms(write)),
          );
      };
      for (const write of writes) {
        run(write);
        const paused = pause();
        if (paused) await paused;
      }
    },
    /** As ViewStore describes for `load`. */
    load: (
      statements: Statements,
      table: Table,
      keys: readonly Row[],
      which: WhichRows = "at",
    ): readonly Row[] => {
      const { select, selectAtOrBefore, keyOf } = sqlOf(table);
      const sql = which === "at" ? select : selectAtOrBefore;
      const rows: Row[] = [];
      for (const key of keys) {
        const found = statements(sql).get(...keyOf(key));
        if (found) rows.push(fromStored(found));
      }
      return rows;
    },
  };
};

const makeSql = (table: Table) => {
  const names = Object.keys(table.columns);
  const name = sqlName(table.name);
  const matches = table.primaryKey.map((key) => `${columnName(table, key)} = ?`).join(" AND ");
  const select = `SELECT ${names.map(sqlName).join(", ")} FROM ${name} WHERE`;
  const last = columnName(table, table.primaryKey.at(-1) ?? "");
  return {
    rowOf: storing(table, names),
    keyOf: storing(table, table.primaryKey),
    ...insertSql(table, `VALUES (${names.map(() => "?").join(", ")})`),
    delete: `DELETE FROM ${name} WHERE ${matches}`,
    select: `${select} ${matches}`,
    selectAtOrBefore: `${select} ${matches.replace(/= \?$/, "<= ?")} ORDER BY ${last} DESC LIMIT 1`,
  };
};

const sqliteTableDdl = (table: Table): readonly string[] => {
  const [create = "", ...indexes] = tableDdl(table);
  // If a row is hardly longer than its key, a table with a rowid beside the index of the key would hold nearly everything twice.
  const isKeyAndCounts = Object.entries(table.columns).every(
    ([name, { type }]) => type === "integer" || table.primaryKey.includes(name),
  );
  return [isKeyAndCounts ? `${create} WITHOUT ROWID` : create, ...indexes];
};
