/**
 * In a folder whose disk is nearly full, makes a view again that fills most of the disk, and writes a row. Then the leftovers of a killed start take up the
 * freed room, and rows are written for which there is no room before those are gone. Prints the result of each step.
 */
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { createSqliteViews } from "../../src/views/sqlite.ts";
import { type Table, TEXT } from "../../src/views/tables.ts";
import type { CommitResult, ViewStore, Write } from "../../src/views/view-store.ts";

const THINGS = {
  name: "things",
  columns: { id: TEXT, text: TEXT },
  primaryKey: ["id"],
  indexes: [["text"]],
} as const satisfies Table;
const viewOf = (version: number) => ({ name: "things", version, tables: [THINGS] });
const KIB = 1024;
/** Enough to change existing pages, but not for a larger file (checkFits). */
const LEFT_KIB = 2048;
const TRIES = 200;

const folder = process.argv[2] ?? "";
const [path, ballast] = [join(folder, "views.sqlite"), join(folder, "ballast")];

const fill = (): void => {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(ballast, new Uint8Array(bavail * bsize - LEFT_KIB * KIB));
};

const rowsOf = (count: number): readonly Write[] =>
  Array.from({ length: count }, (_, id) => ({
    kind: "insert",
    table: THINGS,
    row: { id: String(id), text: `${id}`.repeat(300) },
  }));

const commit = (views: ViewStore, version: number, rows: number): Promise<CommitResult> =>
  views.commit({ views: [viewOf(version)], from: 0, to: 1, writes: rowsOf(rows), deadLetters: [] });

/** Like a runner, which continues until it is told to stop. */
const commitInTries = async (views: ViewStore, version: number, rows: number): Promise<string> => {
  for (let tries = 0; tries < TRIES; tries++)
    try {
      return (await commit(views, version, rows)).kind;
    } catch {
      await delay(10);
    }
  return "failed";
};

const said: string[] = [];
{
  await using views = createSqliteViews({ path });
  await views.open(viewOf(1));
  await commit(views, 1, 2000);
}
fill();
{
  await using views = createSqliteViews({ path });
  said.push(await views.open(viewOf(2)).catch(() => "failed"), await commitInTries(views, 2, 1));
}
rmSync(ballast);
{
  await using views = createSqliteViews({ path });
  await views.open(viewOf(3));
  using file = new DatabaseSync(path);
  file.exec("CREATE TABLE things__left_1 (text TEXT)");
  const free = file.prepare("PRAGMA freelist_count");
  while (Number(free.get()?.freelist_count) > 0)
    file.exec("INSERT INTO things__left_1 VALUES (hex(zeroblob(100000)))");
  file.exec(`UPDATE views SET tables = '["things", "things__left_1"]'`);
  file.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}
fill();
{
  await using views = createSqliteViews({ path });
  said.push(await views.open(viewOf(3)), await commitInTries(views, 3, 1000));
}
process.stdout.write(`${said.join(" ")}\n`);
