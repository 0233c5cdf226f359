/** The SQLite database of an outbox file (docs/outbox-file.md): how it is opened and locked, and what its errors mean. */
import { rmSync } from "node:fs";
import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import type { SyncPolicy } from "./client-options.ts";
import { WAL_PAGES_MAX } from "./limits.ts";
import { isJsonObject } from "./values.ts";

export const IN_MEMORY = ":memory:";
/** "Ptrl". */
export const APPLICATION_ID = 0x5074726c;
export const VERSION = 1;
/** The file is about to be removed. Whoever gets its lock meanwhile writes nothing to it. */
export const REMOVED = -1;
const SYNCHRONOUS = { always: "FULL", interval: "NORMAL", never: "OFF" } as const;
export const SCHEMA = `
  BEGIN;
  CREATE TABLE event(id INTEGER PRIMARY KEY, body TEXT NOT NULL, captured_at INTEGER NOT NULL, attempts INTEGER NOT NULL, sent_at INTEGER);
  CREATE TABLE dead_letter(id INTEGER PRIMARY KEY, body TEXT NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL, at INTEGER NOT NULL);
  CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
  COMMIT`;

/** Opens and locks a database; closes it if that or `use` throws. */
export const opened = <Result>(
  path: string,
  policy: SyncPolicy,
  busyMs: number,
  use: (database: DatabaseSync) => Result,
): Result => {
  // Loaded only when it is needed: no bundler has to know it, and an older Node can say what is missing.
  const sqlite = process.getBuiltinModule?.("node:sqlite");
  if (!sqlite) throw new Error("The outbox needs node:sqlite: use Node 22.13 or newer, Bun or Deno.");
  const database = new sqlite.DatabaseSync(path);
  // An outbox is written and read from end to end: 256 KiB of cache are enough, in place of 2 MB.
  try {
    // With auto_vacuum a file that became large in an outage gives its space back as its events are delivered.
    database.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = FULL;
      PRAGMA journal_mode = WAL; PRAGMA synchronous = ${SYNCHRONOUS[policy]};
      PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}; PRAGMA cache_size = -256`);
    return use(database);
  } catch (error) {
    quietly(() => database.close());
    throw error;
  }
};

export const pragma = (database: DatabaseSync, name: string): unknown =>
  database.prepare(`PRAGMA ${name}`).get()?.[name];

export const removeFiles = (path: string): void => {
  if (path === IN_MEMORY) return;
  for (const suffix of ["", "-wal"]) quietly(() => rmSync(path + suffix, { force: true }));
};

/** What failed here is tried again, or the next run does it. */
export const quietly = (action: () => unknown): void => {
  try {
    action();
  } catch {}
};

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const BUSY = 5;
const DAMAGED: ReadonlySet<number | undefined> = new Set([11, 26]);

const codeIn = (error: unknown): number | undefined => {
  const code = isJsonObject(error) ? error.errcode : undefined;
  return typeof code === "number" ? code & 0xff : undefined;
};

/** Whether an error says that the file holds other bytes than SQLite wrote. */
export const isDamage = (error: unknown): boolean => DAMAGED.has(codeIn(error));

/** Whether an error says that another process holds the file. */
export const isBusy = (error: unknown): boolean => codeIn(error) === BUSY;
