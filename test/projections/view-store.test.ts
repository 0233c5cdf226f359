import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { VIEW_BUSY_MS_MAX } from "../../src/limits.ts";
import { type Table, TEXT } from "../../src/views/store/tables.ts";
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
