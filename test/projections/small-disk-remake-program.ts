/** In a folder whose disk is nearly full, makes a view again that fills most of the disk, and writes a row. Prints the result of each step. */
import { statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import { type Table, TEXT } from "../../src/views/store/tables.ts";
import type { CommitResult, ViewStore, Write } from "../../src/views/store/view-store.ts";

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
process.stdout.write(`${said.join(" ")}\n`);
