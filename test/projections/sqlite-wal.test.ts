import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { VIEW_WAL_PAGES } from "../../src/limits.ts";
import { createWalMover, startWalThread, WAL_THREAD_RETRY_MS } from "../../src/views/sqlite-wal.ts";
import { INTEGER, type Table, TEXT } from "../../src/views/tables.ts";
import type { Write } from "../../src/views/view-store.ts";
import { until } from "../support/until.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const THINGS = {
  name: "things",
  columns: { tenant: TEXT, number: INTEGER, text: TEXT },
  primaryKey: ["tenant", "number"],
  indexes: [],
} as const satisfies Table;
const VIEW = { name: "things", version: 1, tables: [THINGS] };
/** More than half of a page of 8192 bytes, so that each row has its own page. */
const TEXT_BYTES = 4_500;

const insert = (number: number): Write => ({
  kind: "insert",
  table: THINGS,
  row: { tenant: "acme", number, text: "x".repeat(TEXT_BYTES) },
});

const waiting = (pages: number) => ({ count: () => ({ all: pages, waiting: pages }), bytes: () => 0 });

const thread = { start: startWalThread, elapsedMs: () => performance.now(), onEnded: () => {} };

/** A file with rows that wait in its WAL until somebody moves them. */
const writtenAhead = (path: string) => {
  const writer = new DatabaseSync(path);
  writer.exec("PRAGMA journal_mode = WAL");
  writer.exec("PRAGMA wal_autocheckpoint = 0");
  writer.exec("CREATE TABLE things (text TEXT)");
  writer
    .prepare(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO things SELECT ? FROM n",
    )
    .run("x".repeat(TEXT_BYTES));
  return writer;
};

test("pages are moved when enough of them wait, and closing waits for the move", async () => {
  await using database = createSqliteDatabase();
  const { path } = database;
  using _writer = writtenAhead(path);
  const bytes = () => statSync(path).size;
  const tooFew = createWalMover(path, waiting(VIEW_WAL_PAGES - 1), thread);
  tooFew.committed();
  await tooFew.close();
  expect(bytes()).toBeLessThan(1_000 * TEXT_BYTES);
  const enough = createWalMover(path, waiting(VIEW_WAL_PAGES), thread);
  enough.committed();
  await enough.close();
  expect(bytes()).toBeGreaterThan(1_000 * TEXT_BYTES);
});

test("after closing, nothing is moved", async () => {
  await using database = createSqliteDatabase();
  const wal = createWalMover(database.path, waiting(VIEW_WAL_PAGES), thread);
  await wal.close();
  wal.committed();
  await wal.close();
  expect(existsSync(database.path)).toBe(false);
});

test("a store's commits are moved into its file while others are written, and none is lost", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  await views.open(VIEW);
  let end = 0;
  const write = async (count: number): Promise<void> => {
    const writes = Array.from({ length: count }, (_, index) => insert(end + index));
    const to = end + count;
    expect(await views.commit({ views: [VIEW], from: end, to, writes, deadLetters: [] })).toEqual({
      kind: "committed",
    });
    end = to;
  };
  await write(VIEW_WAL_PAGES);
  await until("the rows are in the file", async () => {
    await write(1);
    return statSync(database.path).size > VIEW_WAL_PAGES * TEXT_BYTES;
  });
  const keys = Array.from({ length: end }, (_, number) => ({ tenant: "acme", number }));
  expect(await views.load(THINGS, keys)).toHaveLength(end);
});

test("a thread that ends or cannot start is reported once and started again, later each time, until pages are moved", async () => {
  await using database = createSqliteDatabase();
  const { path } = database;
  using _writer = writtenAhead(path);
  const ends = [
    () => new Worker("throw new Error('no memory')", { eval: true }),
    (): Worker => {
      throw new Error("no thread");
    },
  ];
  const told: string[] = [];
  let [now, starts] = [0, 0];
  const wal = createWalMover(path, waiting(VIEW_WAL_PAGES), {
    start: (file) => (ends[starts++] ?? startWalThread)(file),
    elapsedMs: () => now,
    onEnded: (detail) => told.push(detail),
  });
  wal.committed();
  await until("the first has ended", () => told.length > 0);
  wal.committed();
  expect(starts).toBe(1);
  now += WAL_THREAD_RETRY_MS;
  wal.committed();
  expect(starts).toBe(2);
  now += WAL_THREAD_RETRY_MS;
  wal.committed();
  expect(starts).toBe(2);
  now += WAL_THREAD_RETRY_MS;
  wal.committed();
  expect(starts).toBe(3);
  await wal.close();
  expect(statSync(path).size).toBeGreaterThan(1_000 * TEXT_BYTES);
  expect(told).toEqual([expect.stringContaining("no memory")]);
});

test("a thread that never starts is retried at least once a minute, and reported once", async () => {
  await using database = createSqliteDatabase();
  using _writer = writtenAhead(database.path);
  const told: string[] = [];
  let [now, starts] = [0, 0];
  const wal = createWalMover(database.path, waiting(VIEW_WAL_PAGES), {
    start: () => {
      starts++;
      throw new Error("no thread");
    },
    elapsedMs: () => now,
    onEnded: (detail) => told.push(detail),
  });
  // The pause grows each time, up to a minute.
  for (let tries = 1; tries <= 10; tries++) {
    wal.committed();
    expect(starts).toBe(tries);
    now += 60_000;
  }
  await wal.close();
  expect(told).toHaveLength(1);
});

test("the room that a failed commit took in the WAL is freed before the next commit, and is requested once", async () => {
  await using database = createSqliteDatabase();
  const { path } = database;
  using _writer = writtenAhead(path);
  let asked = 0;
  const start = (file: string): Worker => {
    const worker = startWalThread(file);
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (mode) => {
      asked++;
      post(mode);
    };
    return worker;
  };
  const wal = createWalMover(path, waiting(0), { ...thread, start });
  wal.failed();
  wal.failed();
  await wal.room();
  expect(statSync(`${path}-wal`).size).toBe(0);
  expect(asked).toBe(1);
  await wal.close();
});
