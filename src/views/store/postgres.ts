/**
 * Views in a PostgreSQL database of their own.
 *
 * One connection writes, others read: each statement sees only whole commits, even while one is being written. The database is contacted when it is
 * needed: while it is away, calls reject, and they work again when it is back.
 */
import { VIEW_READ_CONNECTIONS_MAX } from "../../limits.ts";
import type { Done } from "./done.ts";
import {
  type Connection,
  createConnection,
  leastBusy,
  type RunSql,
  type Statement,
} from "./postgres-connection.ts";
import { constraintMessage, DatabaseError, isLockTimeout } from "./postgres-errors.ts";
import { createSnapshots, loadRows, numbered, selectRows, tablesOf } from "./postgres-reads.ts";
import { loadStatement, textArray, writeStatements } from "./postgres-writes.ts";
import { DEAD_LETTERS_PAGE, VIEW_NAMES } from "./sql.ts";
import { deadLetterWrite, fromStored, isSameRow, newViewRow, OWN_TABLES, tablesIn } from "./stored-rows.ts";
import {
  keyText,
  type Row,
  rowInteger,
  rowText,
  SQL_TYPES,
  sqlName,
  type Table,
  tableDdl,
} from "./tables.ts";
import { postgresTextIndexDdl, postgresTextIndexRename, type TextIndex } from "./text-index.ts";
import { ViewsMissingError } from "./unavailable.ts";
import {
  type CommitResult,
  type Expectation,
  type RevisionResult,
  revised,
  VIEWS,
  type ViewCommit,
  type ViewDefinition,
  type ViewRevision,
  type ViewStore,
  type Write,
} from "./view-store.ts";

export const createPostgresViews = ({ url }: { readonly url: string }): ViewStore => {
  const writer = createConnection(url);
  const readers = Array.from({ length: VIEW_READ_CONNECTIONS_MAX }, () => createConnection(url));
  const snapshots = createSnapshots(url);
  let isReady = false;
  const whenReady = untilDone(async () => {
    await writer.transaction(prepareDatabase);
    isReady = true;
  });

  const read: RunSql = (sql, params) => leastBusy(readers).run(sql, params);

  /** A program that only looks may have the wrong database: it must create nothing there, and finds nothing. */
  const readOwn: RunSql = (sql, params) => {
    const wasReady = isReady;
    return read(sql, params).catch((error: unknown) => {
      if (wasReady || !(error instanceof ViewsMissingError)) throw error;
      return { rows: [], command: "SELECT" };
    });
  };

  const open = async (view: ViewDefinition) => {
    await whenReady();
    // The state that nearly every start finds. A transaction for each view would be four messages to the server, one after the other.
    const [known] = await loadRows(read, VIEWS, [{ name: view.name }]);
    if (known && rowInteger(known, "version") === view.version) return "kept";
    return writer.transaction((run) => openView(run, view));
  };

  const position = async (name: string): Promise<number> => {
    const [known] = await loadRows(readOwn, VIEWS, [{ name }]);
    return known ? rowInteger(known, "position") : 0;
  };

  const commit = async (moving: ViewCommit): Promise<CommitResult> => {
    await whenReady();
    return commitOn(writer, moving);
  };

  const revise = async (revision: ViewRevision): Promise<RevisionResult> => {
    await whenReady();
    return reviseOn(writer, revision);
  };

  const close = async (): Promise<void> => {
    await Promise.all([writer, ...readers, snapshots].map((each) => each.close()));
  };

  return {
    open,
    position,
    load: (...asked) => loadRows(read, ...asked),
    commit,
    revise,
    select: (query) => selectRows(read, query),
    replace: async (replacement) => {
      await whenReady();
      return writer.transaction((run) => replaceView(run, replacement)).catch(inUse);
    },
    names: async () => (await readOwn(VIEW_NAMES)).rows.map((row) => rowText(fromStored(row), "name")),
    drop: async (name) => {
      await whenReady();
      await writer.transaction(async (run) => {
        await lockSchema(run);
        const [known] = await lockViews(run, [name]);
        if (known) await removeView(run, known);
        return { result: undefined, keep: known !== undefined };
      });
    },
    snapshot: snapshots.take,
    deadLetters: async (...asked) => (await readOwn(numbered(DEAD_LETTERS_PAGE), asked)).rows.map(fromStored),
    giveUp: () => {
      for (const each of [writer, ...readers, snapshots]) each.giveUp();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};

const commitOn = async (writer: Connection, moving: ViewCommit): Promise<CommitResult> => {
  const move = moveStatement(moving);
  const expected = expectedRows(moving.expected ?? []);
  const letters = moving.deadLetters.map(deadLetterWrite);
  const writes = await writeStatements([...moving.writes, ...letters]);
  const work = async (run: RunSql): Promise<Done<CommitResult>> => {
    const result = await mayMove(run, moving);
    if (result.kind !== "committed") return { result, keep: false };
    await run(move.sql, move.params);
    if (!(await standAsExpected(run, expected))) return { result: { kind: "outdated" }, keep: false };
    for (const { sql, params } of writes) await run(sql, params);
    return { result, keep: true };
  };
  try {
    return await writer.transaction(work, [move, ...expected.map(({ load }) => load), ...writes]);
  } catch (error) {
    const detail = constraintMessage(error);
    if (detail === undefined) throw error;
    return { kind: "unwritable", detail };
  }
};

const reviseOn = async (
  writer: Connection,
  { views, expected, writes }: ViewRevision,
): Promise<RevisionResult> => {
  const rows = expectedRows(expected);
  const statements = await writeStatements(writes);
  const work = async (run: RunSql): Promise<Done<RevisionResult>> => {
    // Held until the end, so that neither a commit nor another revision comes in between.
    const names = views.map(({ name }) => name);
    const standing = new Map((await lockViews(run, names)).map((row) => [row.name, row.version]));
    const isCurrent = views.every(({ name, version }) => standing.get(name) === version);
    if (!isCurrent || !(await standAsExpected(run, rows)))
      return { result: { kind: "outdated" }, keep: false };
    for (const { sql, params } of statements) await run(sql, params);
    return { result: { kind: "revised" }, keep: true };
  };
  return writer.transaction(work, [...rows.map(({ load }) => load), ...statements]);
};

const inUse = (error: unknown): "in_use" => {
  if (isLockTimeout(error)) return "in_use";
  throw error;
};

/** Readers of a table wait behind a writer that waits for an exclusive lock. */
const REPLACE_LOCK_MS = 200;

const replaceView = async (run: RunSql, replacement: Parameters<ViewStore["replace"]>[0]) => {
  const { view, by, lagMax, writes = [], beside = [] } = replacement;
  await run(`SET LOCAL lock_timeout = ${REPLACE_LOCK_MS}`);
  await lockSchema(run);
  const standing = new Map(
    (await lockViews(run, [view.name, by.name, ...beside])).map((row) => [rowText(row, "name"), row]),
  );
  const [live, made] = [standing.get(view.name), standing.get(by.name)];
  if (!live || !made) throw new DatabaseError(`there is no view ${live ? by.name : view.name}`);
  if (rowInteger(live, "version") !== view.version)
    throw new DatabaseError(`${view.name} is of another version`);
  if (rowInteger(live, "position") - rowInteger(made, "position") > lagMax)
    return { result: "behind", keep: false } as const;
  // In the order of the readers: a reader that has one table and waits for the next would otherwise wait for us, and we for it.
  await run(`LOCK TABLE ${tablesOf(view).map(sqlName).join(", ")} IN ACCESS EXCLUSIVE MODE`);
  await removeView(run, live);
  await runDdl(run, renamingTo(view, by));
  await run("UPDATE dead_letters SET projection = $1 WHERE projection = $2", [view.name, by.name]);
  await run("UPDATE view_ends SET name = $1 WHERE name = $2", [view.name, by.name]);
  await run("DELETE FROM views WHERE name = $1", [by.name]);
  const row = { ...newViewRow(view), position: rowInteger(made, "position") };
  await runWrites(run, [{ kind: "upsert", table: VIEWS, row }, revised(view.name), ...writes]);
  return { result: "replaced", keep: true } as const;
};

const renamingTo = (view: ViewDefinition, by: ViewDefinition): readonly string[] => [
  ...view.tables.flatMap(({ name }, index) => {
    const other = by.tables[index];
    return other ? [`ALTER TABLE ${sqlName(other.name)} RENAME TO ${sqlName(name)}`] : [];
  }),
  ...(view.textIndexes ?? []).flatMap((named, index) => {
    const other = by.textIndexes?.[index];
    return other ? postgresTextIndexRename(other, named) : [];
  }),
];

const removeView = async (run: RunSql, view: Row): Promise<void> => {
  await dropView(run, view);
  await run("DELETE FROM views WHERE name = $1", [rowText(view, "name")]);
};

/** Runs once until it has succeeded, and for all callers that wait at the same time. */
const untilDone = (work: () => Promise<unknown>): (() => Promise<unknown>) => {
  let done: Promise<unknown> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
};

/** Any number that no other program on the same database uses: its exclusive holder may make and drop tables. */
const SCHEMA_LOCK = 7_266_834_901;

const prepareDatabase = async (run: RunSql) => {
  const { rows } = await run(
    "SELECT pg_encoding_to_char(encoding) AS name FROM pg_database WHERE datname = current_database()",
  );
  if (rows[0]?.name !== "UTF8") throw new DatabaseError("the database must have the encoding UTF8");
  await lockSchema(run);
  await makeTables(run, await missingOf(run, OWN_TABLES));
  // Fails if this server accepts no writes, even if all tables exist: a start waits for that.
  await run("SELECT 1 FROM views WHERE false FOR UPDATE");
  return { result: undefined, keep: true };
};

const lockSchema = (run: RunSql) => run("SELECT pg_advisory_xact_lock($1::bigint)", [SCHEMA_LOCK]);

const missingOf = async (run: RunSql, tables: readonly Table[]): Promise<readonly Table[]> => {
  const { rows } = await run("SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL", [
    textArray(tables.map(({ name }) => name)),
  ]);
  return tables.filter((table) => rows.some(({ name }) => name === table.name));
};

/** Texts are ordered by their bytes, as in SQLite: ranges of time and pages depend on it. */
const TYPES = { ...SQL_TYPES, text: 'text COLLATE "C"' };

const makeTables = (
  run: RunSql,
  tables: readonly Table[],
  textIndexes: readonly TextIndex[] = [],
): Promise<void> =>
  runDdl(run, [
    ...tables.flatMap((table) => tableDdl(table, TYPES)),
    ...textIndexes.flatMap(postgresTextIndexDdl),
  ]);

/** As one message: with single statements, a view with many tables takes a third longer to make (measured). */
const runDdl = async (run: RunSql, statements: readonly string[]): Promise<void> => {
  if (statements.length > 0) await run(statements.join("; "));
};

const openView = async (run: RunSql, view: ViewDefinition) => {
  await lockSchema(run);
  const [known] = await lockViews(run, [view.name]);
  if (known && rowInteger(known, "version") === view.version) return { result: "kept", keep: false } as const;
  if (known) {
    // In the same order as when a view is replaced. The row of a view that was made before that order was introduced lists them in another one.
    const standing = tablesIn(known);
    const shared = tablesOf(view).filter((name) => standing.includes(name));
    if (shared.length > 0) await run(`LOCK TABLE ${shared.map(sqlName).join(", ")} IN ACCESS EXCLUSIVE MODE`);
    await dropView(run, known);
  }
  await makeTables(run, view.tables, view.textIndexes);
  const made: Write = { kind: "upsert", table: VIEWS, row: newViewRow(view) };
  await runWrites(run, known ? [made, revised(view.name)] : [made]);
  return { result: known ? "made_again" : "made", keep: true } as const;
};

const dropView = async (run: RunSql, view: Row): Promise<void> => {
  await runDdl(
    run,
    tablesIn(view).map((name) => `DROP TABLE ${sqlName(name)}`),
  );
  await run("DELETE FROM dead_letters WHERE projection = $1", [rowText(view, "name")]);
  await run("DELETE FROM view_ends WHERE name = $1", [rowText(view, "name")]);
};

/** The rows of these views, locked until the transaction ends. Always in one order, so that two writers cannot wait for each other. */
const lockViews = async (run: RunSql, names: readonly string[]): Promise<readonly Row[]> => {
  const { rows } = await run(
    "SELECT name, version, position, tables FROM views WHERE name = ANY ($1::text[]) ORDER BY name FOR UPDATE",
    [textArray(names)],
  );
  return rows.map(fromStored);
};

/** A view advances only from where the writer believes it to be, and only if it has the writer's version. */
const mayMove = async (run: RunSql, { views, from, beside = [] }: ViewCommit): Promise<CommitResult> => {
  const names = views.map(({ name }) => name);
  const locked = await lockViews(run, [...names, ...beside]);
  const standing = new Map(locked.map((row) => [rowText(row, "name"), row]));
  for (const { name, version } of views) {
    const row = standing.get(name);
    const position = row ? rowInteger(row, "position") : 0;
    if (!row || rowInteger(row, "version") !== version || position !== from)
      return { kind: "superseded", view: name, position };
  }
  return { kind: "committed" };
};

const moveStatement = ({ views, to }: ViewCommit): Statement => ({
  sql: "UPDATE views SET position = $1 WHERE name = ANY ($2::text[])",
  params: [to, textArray(views.map(({ name }) => name))],
});

const runWrites = async (run: RunSql, writes: readonly Write[]): Promise<void> => {
  for (const { sql, params } of await writeStatements(writes)) await run(sql, params);
};

/** The expected rows of one table. */
interface ExpectedRows {
  readonly table: Table;
  readonly asked: readonly Expectation[];
  readonly load: Statement;
}

const expectedRows = (expected: readonly Expectation[]): readonly ExpectedRows[] =>
  [...Map.groupBy(expected, ({ table }) => table)].map(([table, asked]) => ({
    table,
    asked,
    load: loadStatement(
      table,
      asked.map(({ key }) => key),
    ),
  }));

const standAsExpected = async (run: RunSql, expected: readonly ExpectedRows[]): Promise<boolean> => {
  for (const { table, asked, load } of expected) {
    const rows = (await run(load.sql, load.params)).rows.map(fromStored);
    const standing = new Map(rows.map((row) => [keyText(table, row), row]));
    if (!asked.every(({ key, row }) => isSameRow(standing.get(keyText(table, key)), row))) return false;
  }
  return true;
};
