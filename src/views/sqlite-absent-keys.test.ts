import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { rowSql } from "./sql.ts";
import { createAbsentKeys, MISSES_BEFORE_READING } from "./sqlite-absent-keys.ts";
import { createStatements } from "./sqlite-connection.ts";
import { runWrite } from "./sqlite-rows.ts";
import { INTEGER, type Row, type Table, TEXT, tableDdl } from "./tables.ts";
import type { Write } from "./view-store.ts";

const THINGS = {
  name: "things",
  columns: { tenant: TEXT, key: TEXT, count: INTEGER },
  primaryKey: ["tenant", "key"],
  indexes: [],
  isAskedForNewRows: true,
} as const satisfies Table;

const keyOf = (key: string): Row => ({ tenant: "acme", key });
const insert = (key: string): Write => ({ kind: "insert", table: THINGS, row: { ...keyOf(key), count: 1 } });
const absent = Array.from({ length: MISSES_BEFORE_READING }, (_, index) => keyOf(`absent ${index}`));

/** More than reading the keys takes. */
const turns = async (count = 10): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A file with the table, and what one process remembers of it. */
const createThings = () => {
  const folder = mkdtempSync(join(tmpdir(), "prooftrail-absent-"));
  const path = join(folder, "views.sqlite");
  const connections: DatabaseSync[] = [];
  const connect = () => {
    const connection = new DatabaseSync(path);
    connections.push(connection);
    return connection;
  };
  const writer = connect();
  writer.exec("PRAGMA journal_mode = WAL");
  for (const sql of tableDdl(THINGS)) writer.exec(sql);
  const statements = createStatements(writer);
  let lookups = 0;
  const counted = (sql: string) => {
    if (sql === rowSql(THINGS).select || sql === rowSql(THINGS).selects) lookups++;
    return statements(sql);
  };
  const gates: (() => void)[] = [];
  const keys = createAbsentKeys({
    write: counted,
    read: createStatements(connect()),
    // As if a transaction were open until the gate opens.
    between: async (work) => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return work();
    },
  });
  /** Found keys, and how many lookups that took. */
  const load = (...asked: readonly Row[]) => {
    lookups = 0;
    const found = keys.load(THINGS, asked).map(({ key }) => key);
    return { found, lookups };
  };
  const write = (...writes: readonly Write[]): void => {
    keys.written(writes);
    for (const each of writes) runWrite(statements, each);
  };
  /** Lookups until the keys are read. */
  const learn = async (): Promise<void> => {
    load(...absent);
    for (const open of gates.splice(0)) open();
    while (load(keyOf("absent 1")).lookups > 0) await turns(1);
  };
  return {
    keys,
    load,
    write,
    learn,
    gates,
    run: (sql: string) => writer.exec(sql),
    another: () => createStatements(connect()),
    [Symbol.dispose]: () => {
      keys.close();
      for (const connection of connections) connection.close();
      rmSync(folder, { recursive: true });
    },
  };
};

test("a key that is known to be absent is not looked for, and every key that exists is found", async () => {
  using things = createThings();
  const names = Array.from({ length: 2500 }, (_, index) => `old ${index}`);
  things.write(...names.map(insert));
  expect(things.load(keyOf("absent 1"))).toEqual({ found: [], lookups: 1 });
  things.run("BEGIN");
  things.write(insert("meanwhile"));
  things.load(...absent);
  // Keys that are read now would not have that one among them.
  await turns();
  things.run("COMMIT");
  await things.learn();
  things.write(insert("new"), { kind: "upsert", table: THINGS, row: { ...keyOf("upserted \0"), count: 2 } });
  const there = [...names, "meanwhile", "new", "upserted \0"];
  expect(things.load(...there.map(keyOf)).found.toSorted()).toEqual(there.toSorted());
  expect(things.load(keyOf("absent 1"), keyOf("newer"))).toEqual({ found: [], lookups: 0 });
});

test("what another connection writes is found, and then nothing is known to be absent any more", async () => {
  using things = createThings();
  await things.learn();
  runWrite(things.another(), insert("theirs"));
  expect(things.load(keyOf("theirs"), keyOf("absent 1"))).toEqual({ found: ["theirs"], lookups: 2 });
  await things.learn();
  expect(things.load(keyOf("theirs")).found).toEqual(["theirs"]);
});

test("keys stay known while another connection moves pages out of the WAL", async () => {
  using things = createThings();
  await things.learn();
  things.write(insert("new"));
  things.another()("PRAGMA wal_checkpoint(PASSIVE)").get();
  things.write(insert("newer"));
  expect(things.load(keyOf("absent 1"), keyOf("newer"))).toEqual({ found: ["newer"], lookups: 1 });
});

test("nothing is known of tables that are rebuilt, nor of keys that were still being read then", async () => {
  using things = createThings();
  await things.learn();
  things.keys.forget();
  expect(things.load(keyOf("absent 1")).lookups).toBe(1);
  things.load(...absent);
  for (const open of things.gates.splice(0)) open();
  things.keys.forget();
  await turns();
  things.write(insert("new"));
  expect(things.load(keyOf("new"))).toEqual({ found: ["new"], lookups: 1 });
});
