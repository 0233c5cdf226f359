/** What a view store does, in either database: only statements, transactions and locks differ. */
import { SNAPSHOT_ROWS } from "../../limits.ts";
import {
  among,
  fromStored,
  isSameRow,
  keyText,
  keyValues,
  pageSql,
  type Row,
  rowInteger,
  rowText,
  sqlName,
  type Table,
  UnstorableError,
  type Value,
} from "./tables.ts";
import type { TextIndex } from "./text-index.ts";
import {
  type CommitResult,
  deadLetterWrite,
  type Expectation,
  newViewRow,
  type RevisionResult,
  revised,
  tablesIn,
  VIEWS,
  type ViewDefinition,
  type ViewStore,
  type Write,
} from "./view-store.ts";

/** The result of the work of a transaction, and whether its writes are to be kept. */
export interface Done<Result> {
  readonly result: Result;
  readonly keep: boolean;
}

export interface Reading extends Pick<ViewStore, "load" | "select"> {
  /** `sql` has one `?` per value. */
  rows(sql: string, values?: readonly Value[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

export interface Writing extends Reading {
  write(writes: readonly Write[]): Promise<void>;
  /** Runs statements that make and remove tables. */
  define(statements: readonly string[]): Promise<void>;
}

export interface Database {
  /** As of the last commit. */
  readonly reading: Reading;
  /** The same for the store's own tables, which a program that only looks may not find. */
  readonly own: Pick<Reading, "rows" | "load">;
  /** Until it may be written to. */
  ready(): Promise<unknown>;
  /** Transactions run one after another, even if their work awaits. Rolled back if the work throws. */
  transaction<Result>(work: (at: Writing) => Promise<Done<Result>>): Promise<Result>;
  snapshot<Result>(tables: readonly string[], visit: (at: Reading) => Promise<Result>): Promise<Result>;
  tableDdl(table: Table): readonly string[];
  textIndexDdl(index: TextIndex): readonly string[];
  /** Names of rows of VIEWS that are read are locked until the transaction ends. */
  readonly lockingRows: string;
  /** Nobody else makes or removes tables, nor reads these. */
  readonly lockSchema: readonly string[];
  lockTables(tables: readonly string[]): readonly string[];
  /** Readers of a table wait behind a writer that waits for an exclusive lock: it must not wait for long. */
  readonly beforeReplacing: readonly string[];
  /** The message of a database that refuses a row; it names table and constraint but no value. */
  constraintMessage(error: unknown): string | undefined;
  giveUp(): void;
  close(): Promise<void>;
}

export const createStoredViews = (database: Database): ViewStore => {
  const { reading, own } = database;
  const changing = async <Result>(work: (at: Writing) => Promise<Done<Result>>): Promise<Result> => {
    await database.ready();
    return database.transaction(work);
  };
  return {
    open: async (view) => {
      await database.ready();
      // The state that nearly every start finds, without a transaction, which a paused projector may keep waiting.
      const [known] = await reading.load(VIEWS, [{ name: view.name }]);
      return isVersion(known, view) ? "kept" : changing((at) => openView(database, at, view));
    },
    position: (name) => positionIn(own, name),
    load: reading.load,
    select: reading.select,
    commit: async (moving) => {
      try {
        return await changing((at) => commitIn(database, at, moving));
      } catch (error) {
        const detail = error instanceof UnstorableError ? error.message : database.constraintMessage(error);
        if (detail === undefined) throw error;
        return { kind: "unwritable", detail };
      }
    },
    revise: ({ views, expected, writes }) =>
      changing<RevisionResult>(async (at) => {
        const standing = await lockViews(
          database,
          at,
          views.map(({ name }) => name),
        );
        const isCurrent = views.every((view) => isVersion(standing.get(view.name), view));
        if (!(isCurrent && (await standAs(at, expected))))
          return { result: { kind: "outdated" }, keep: false };
        await at.write(writes);
        return { result: { kind: "revised" }, keep: true };
      }),
    replace: (replacement) => changing((at) => replaceView(database, at, replacement)),
    names: async () =>
      (await own.rows("SELECT name FROM views ORDER BY name")).map((row) => rowText(fromStored(row), "name")),
    drop: (name) =>
      changing(async (at) => {
        await at.define(database.lockSchema);
        const known = (await lockViews(database, at, [name])).get(name);
        if (known) await removeView(at, known);
        return { result: undefined, keep: known !== undefined };
      }),
    snapshot: (view, visit) =>
      database.snapshot(tablesOf(view), async (at) =>
        visit({
          position: await positionIn(at, view.name),
          rows: (table) => pagesOf(at, table),
          load: at.load,
          select: at.select,
        }),
      ),
    deadLetters: async (...asked) => (await own.rows(DEAD_LETTERS_PAGE, asked)).map(fromStored),
    giveUp: database.giveUp,
    close: database.close,
    [Symbol.asyncDispose]: database.close,
  };
};

const DEAD_LETTERS_PAGE =
  "SELECT projection, sequence, tenant, event_id, code, detail, recorded_at FROM dead_letters WHERE projection = ? AND sequence > ? ORDER BY sequence LIMIT ?";

const tablesOf = (view: ViewDefinition): readonly string[] => tablesIn(newViewRow(view));

const isVersion = (known: Row | undefined, { version }: ViewDefinition): boolean =>
  known !== undefined && rowInteger(known, "version") === version;

const positionIn = async ({ load }: Pick<Reading, "load">, name: string): Promise<number> => {
  const [known] = await load(VIEWS, [{ name }]);
  return known ? rowInteger(known, "position") : 0;
};

/** The rows of these views, locked until the transaction ends. Always in one order, so that two writers cannot wait for each other. */
const lockViews = async (
  { lockingRows }: Database,
  at: Writing,
  names: readonly string[],
): Promise<ReadonlyMap<string, Row>> => {
  const rows = await at.rows(
    `SELECT name, version, position, tables FROM views WHERE ${among("name", names)} ORDER BY name${lockingRows}`,
    names,
  );
  return new Map(rows.map(fromStored).map((row) => [rowText(row, "name"), row]));
};

/** A view advances only from where the writer believes it to be, and only if it has the writer's version. */
const commitIn = async (
  database: Database,
  at: Writing,
  { views, from, to, writes, deadLetters, expected = [], beside = [] }: Parameters<ViewStore["commit"]>[0],
): Promise<Done<CommitResult>> => {
  const names = views.map(({ name }) => name);
  const standing = await lockViews(database, at, [...names, ...beside]);
  for (const view of views) {
    const row = standing.get(view.name);
    const position = row ? rowInteger(row, "position") : 0;
    if (!isVersion(row, view) || position !== from)
      return { result: { kind: "superseded", view: view.name, position }, keep: false };
  }
  if (!(await standAs(at, expected))) return { result: { kind: "outdated" }, keep: false };
  await at.rows(`UPDATE views SET position = ? WHERE ${among("name", names)}`, [to, ...names]);
  await at.write([...writes, ...deadLetters.map(deadLetterWrite)]);
  return { result: { kind: "committed" }, keep: true };
};

const standAs = async (at: Writing, expected: readonly Expectation[]): Promise<boolean> => {
  for (const [table, asked] of Map.groupBy(expected, (each) => each.table)) {
    const rows = await at.load(
      table,
      asked.map(({ key }) => key),
    );
    const standing = new Map(rows.map((row) => [keyText(table, row), row]));
    if (!asked.every(({ key, row }) => isSameRow(standing.get(keyText(table, key)), row))) return false;
  }
  return true;
};

const openView = async (database: Database, at: Writing, view: ViewDefinition) => {
  await at.define(database.lockSchema);
  const known = (await lockViews(database, at, [view.name])).get(view.name);
  if (isVersion(known, view)) return { result: "kept", keep: false } as const;
  if (known) {
    await lockTables(database, at, view, known);
    await removeView(at, known);
  }
  await at.define([
    ...view.tables.flatMap(database.tableDdl),
    ...(view.textIndexes ?? []).flatMap(database.textIndexDdl),
  ]);
  const made: Write = { kind: "upsert", table: VIEWS, row: newViewRow(view) };
  await at.write(known ? [made, revised(view.name)] : [made]);
  return { result: known ? "rebuilt" : "made", keep: true } as const;
};

/**
 * The tables of the view that are there, in the order of its readers: one that has a table and waits for the next would otherwise wait for us, and we for
 * it.
 */
const lockTables = async (
  database: Database,
  at: Writing,
  view: ViewDefinition,
  known: Row,
): Promise<void> => {
  const there = tablesIn(known);
  await at.define(database.lockTables(tablesOf(view).filter((name) => there.includes(name))));
};

const removeView = async (at: Writing, view: Row): Promise<void> => {
  const name = rowText(view, "name");
  await at.define(tablesIn(view).map((table) => `DROP TABLE ${sqlName(table)}`));
  await at.rows("DELETE FROM dead_letters WHERE projection = ?", [name]);
  await at.rows("DELETE FROM view_ends WHERE name = ?", [name]);
  await at.rows("DELETE FROM views WHERE name = ?", [name]);
};

const replaceView = async (
  database: Database,
  at: Writing,
  { view, by, liveVersion = view.version, lagMax }: Parameters<ViewStore["replace"]>[0],
) => {
  await at.define([...database.beforeReplacing, ...database.lockSchema]);
  const standing = await lockViews(database, at, [view.name, by.name]);
  const [live, made] = [standing.get(view.name), standing.get(by.name)];
  if (!live || !made) throw new Error(`there is no view ${live ? by.name : view.name}`);
  if (rowInteger(live, "version") !== liveVersion) throw new Error(`${view.name} is of another version`);
  if (rowInteger(live, "position") - rowInteger(made, "position") > lagMax)
    return { result: "behind", keep: false } as const;
  await lockTables(database, at, view, live);
  await removeView(at, live);
  const others = tablesOf(by);
  await at.define(
    tablesOf(view).map(
      (name, index) => `ALTER TABLE ${sqlName(others[index] ?? "")} RENAME TO ${sqlName(name)}`,
    ),
  );
  await at.rows("UPDATE dead_letters SET projection = ? WHERE projection = ?", [view.name, by.name]);
  await at.rows("UPDATE view_ends SET name = ? WHERE name = ?", [view.name, by.name]);
  await at.rows("DELETE FROM views WHERE name = ?", [by.name]);
  const row = { ...newViewRow(view), position: rowInteger(made, "position") };
  await at.write([{ kind: "upsert", table: VIEWS, row }, revised(view.name)]);
  return { result: "replaced", keep: true } as const;
};

async function* pagesOf(at: Reading, table: Table): AsyncGenerator<readonly Row[]> {
  let last: Row | undefined;
  do {
    const values = [...(last ? keyValues(table, last) : []), SNAPSHOT_ROWS];
    const page = (await at.rows(pageSql(table, last === undefined), values)).map(fromStored);
    if (page.length > 0) yield page;
    last = page.length < SNAPSHOT_ROWS ? undefined : page.at(-1);
  } while (last);
}
