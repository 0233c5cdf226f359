import { describe, expect, spyOn, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { VIEW_BUSY_MS_MAX } from "../../src/limits.ts";
import { shadowDefinition } from "../../src/projections/shadow.ts";
import { INTEGER, type Table, TEXT } from "../../src/views/tables.ts";
import type { ViewStore, Write } from "../../src/views/view-store.ts";
import { textIndexSuite } from "../suites/text-index.ts";
import { viewStoreSuite } from "../suites/view-store.ts";
import { until } from "../support/until.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

viewStoreSuite("SQLite", createSqliteDatabase);
textIndexSuite("SQLite", createSqliteDatabase);

const NOTES = {
  name: "notes",
  columns: { key: TEXT },
  primaryKey: ["key"],
  indexes: [],
} as const satisfies Table;

test("a commit that waits for another process's lock on the file can be given up, and is not made", async () => {
  await using database = createSqliteDatabase();
  await using store = database.connect();
  const view = { name: "notes", version: 1, tables: [NOTES] };
  await store.open(view);
  const holder = new DatabaseSync(database.path);
  holder.exec("BEGIN IMMEDIATE");
  const commit = () => store.commit({ views: [view], from: 0, to: 1, writes: [], deadLetters: [] });
  const rejected: string[] = [];
  const reject = (error: unknown): void => void rejected.push(String(error));
  commit().catch(reject);
  store.giveUp();
  commit().catch(reject);
  const beganAt = performance.now();
  await until("neither waits any more", () => rejected.length === 2);
  // By then each would have ended by itself.
  expect(performance.now() - beganAt).toBeLessThan(VIEW_BUSY_MS_MAX);
  expect(rejected).toEqual([expect.stringContaining("locked"), expect.stringContaining("locked")]);
  holder.close();
  expect(await store.position("notes")).toBe(0);
});

describe("a view that is rebuilt in SQLite", () => {
  const THINGS = {
    name: "things",
    columns: { tenant: TEXT, sequence: INTEGER, colour: TEXT },
    primaryKey: ["tenant", "sequence"],
    indexes: [["tenant", "colour", "sequence"]],
  } as const satisfies Table;
  const COUNTS = {
    name: "counts",
    columns: { colour: TEXT, count: INTEGER },
    primaryKey: ["colour"],
    indexes: [],
  } as const satisfies Table;
  const WORDS = { name: "words" };
  const viewOf = (version: number) => ({
    name: "things",
    version,
    tables: [THINGS, COUNTS],
    textIndexes: [WORDS],
  });
  const writes: readonly Write[] = [
    { kind: "insert", table: THINGS, row: { tenant: "acme", sequence: 1, colour: "red" } },
    { kind: "insert", table: COUNTS, row: { colour: "red", count: 1 } },
    {
      kind: "index",
      index: WORDS,
      tenant: "acme",
      sequence: 1,
      texts: ["red"],
      labels: [],
      times: [],
    },
  ];
  const commit = (store: ViewStore, version: number) =>
    store.commit({ views: [viewOf(version)], from: 0, to: 1, writes, deadLetters: [] });
  const namesIn = (path: string, sql: string): readonly string[] => {
    using file = new DatabaseSync(path, { readOnly: true });
    return file
      .prepare(sql)
      .all()
      .map(({ name }) => String(name));
  };
  /** Tables, indexes and the parts of text indexes. */
  const schemaOf = (path: string) => namesIn(path, "SELECT name FROM sqlite_schema");
  const tablesIn = (path: string) =>
    namesIn(path, "SELECT value AS name FROM views, json_each(tables) ORDER BY views.name, key");
  /** Tables of the earlier view. */
  const leftIn = (path: string) => tablesIn(path).filter((name) => name.includes("__left_"));

  test("the old tables are left to a thread, which drops all of them once views move", async () => {
    await using database = createSqliteDatabase();
    await using store = database.connect();
    await store.open(viewOf(1));
    await commit(store, 1);
    const exec = spyOn(DatabaseSync.prototype, "exec");
    expect(await store.open(viewOf(2))).toBe("made_again");
    const statements = exec.mock.calls.map(([sql]) => sql);
    exec.mockRestore();
    expect(statements.filter((sql) => sql.startsWith("DROP"))).toEqual([]);
    expect(await store.position("things")).toBe(0);
    expect(await store.load(COUNTS, [{ colour: "red" }])).toEqual([]);
    expect(leftIn(database.path)).toEqual(
      ["words", "things", "counts"].map((name) => expect.stringContaining(`${name}__left_`)),
    );
    expect(await store.names()).toEqual(["things"]);
    expect(await commit(store, 2)).toEqual({ kind: "committed" });
    await until("the tables of before are gone", () => leftIn(database.path).length === 0);
    expect(tablesIn(database.path)).toEqual(["words", "things", "counts"]);
    expect(await store.load(COUNTS, [{ colour: "red" }])).toEqual([{ colour: "red", count: 1 }]);
    expect(schemaOf(database.path).filter((name) => name.includes("left"))).toEqual([]);
  });

  test("if the process was killed before or while they were dropped, the next one drops them, and may make the view again itself", async () => {
    await using database = createSqliteDatabase();
    const opened = async (version: number): Promise<void> => {
      await using store = database.connect();
      await store.open(viewOf(version));
    };
    await opened(1);
    const before = schemaOf(database.path).length;
    await opened(2);
    {
      // One table and the index of another are gone.
      using file = new DatabaseSync(database.path);
      const tables = tablesIn(database.path);
      const words = tables.find((name) => name.startsWith("words__left_"));
      file.exec(`DROP TABLE "${words}"`);
      file
        .prepare("UPDATE views SET tables = ?")
        .run(JSON.stringify(tables.filter((name) => name !== words)));
      file.exec("DROP INDEX things_by_tenant_colour_sequence");
    }
    await opened(3);
    await using store = database.connect();
    expect(await store.open(viewOf(3))).toBe("kept");
    expect(leftIn(database.path)).toHaveLength(5);
    expect(await commit(store, 3)).toEqual({ kind: "committed" });
    await until("the tables of before are gone", () => leftIn(database.path).length === 0);
    expect(schemaOf(database.path)).toHaveLength(before);
  });

  test("a version that does not move tables aside can make the view again too, while the old tables still exist", async () => {
    await using database = createSqliteDatabase();
    const opened = async (version: number): Promise<string> => {
      await using store = database.connect();
      return store.open(viewOf(version));
    };
    await opened(1);
    const before = schemaOf(database.path).length;
    await opened(2);
    {
      // As that version does it: it drops the tables that the view's row lists, and then makes the view as if it had never existed.
      using file = new DatabaseSync(database.path);
      for (const name of tablesIn(database.path)) file.exec(`DROP TABLE "${name}"`);
      file.exec("DELETE FROM views");
    }
    expect(await opened(1)).toBe("made");
    expect(schemaOf(database.path)).toHaveLength(before);
  });

  test("a rebuilt view that replaces the live one also leaves the old tables to a thread, and is there when they are gone", async () => {
    await using database = createSqliteDatabase();
    await using store = database.connect();
    await store.open(viewOf(1));
    await commit(store, 1);
    const before = schemaOf(database.path).length;
    const by = shadowDefinition(viewOf(1), "g1");
    await store.open(by);
    const exec = spyOn(DatabaseSync.prototype, "exec");
    expect(await store.replace({ view: viewOf(1), by, lagMax: 1 })).toBe("replaced");
    const statements = exec.mock.calls.map(([sql]) => sql);
    exec.mockRestore();
    expect(statements.filter((sql) => sql.startsWith("DROP"))).toEqual([]);
    expect(await store.load(COUNTS, [{ colour: "red" }])).toEqual([]);
    expect(tablesIn(database.path)).toEqual(["words", "things", "counts"]);
    expect(schemaOf(database.path)).toHaveLength(before);
  });
});
