/**
 * Changes rows of a view in this folder without moving it, as expiry does, until several times the disk's size has gone through the WAL. Then writes rows until
 * no more fit while a reader looks at the view, continues without the reader until the disk is full, frees a third of the disk,
 * and writes until it is full again. Prints how many changes failed, the size of the view's file in MiB at both times, and how much
 * of the disk is left: this process sees the disk, and the test's process does not.
 */
import { randomUUID } from "node:crypto";
import { rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setImmediate } from "node:timers/promises";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import { type Table, TEXT } from "../../src/views/store/tables.ts";
import type { Write } from "../../src/views/store/view-store.ts";

const THINGS = {
  name: "things",
  columns: { id: TEXT, text: TEXT },
  primaryKey: ["id"],
  indexes: [],
} as const satisfies Table;
const VIEW = { name: "things", version: 1, tables: [THINGS] };
const ROWS_AT_ONCE = 1000;
const REVISED_ROWS = 5000;
const REVISIONS = 40;
const MIB = 1024 * 1024;
/** Like a runner, which tries until it is told to stop. */
const TRIES = 20;

const folder = process.argv[2] ?? "";
const [path, ballast] = [join(folder, "views.sqlite"), join(folder, "ballast")];
const { blocks, bsize } = statfsSync(folder);
writeFileSync(ballast, new Uint8Array((blocks * bsize) / 3));
await using views = createSqliteViews({ path });
await views.open(VIEW);
let position = 0;

const rowsOf = (kind: "insert" | "upsert", ids: readonly string[], letter = "x"): readonly Write[] =>
  ids.map((id) => ({ kind, table: THINGS, row: { id, text: letter.repeat(400) } }));

const newIds = (count: number): readonly string[] => Array.from({ length: count }, () => randomUUID());

const writeSome = async (): Promise<boolean> => {
  const writes = rowsOf("insert", newIds(ROWS_AT_ONCE));
  const moving = { views: [VIEW], from: position, to: position + 1, writes, deadLetters: [] };
  const result = await views.commit(moving).catch(() => undefined);
  if (result?.kind === "committed") position++;
  return result !== undefined;
};

const fill = async (): Promise<number> => {
  for (let failed = 0; failed < TRIES; await setImmediate()) failed = (await writeSome()) ? 0 : failed + 1;
  return Math.round(statSync(path).size / MIB);
};

/** Writing a row unchanged would change no page. */
const reviseMany = async (): Promise<number> => {
  const ids = newIds(REVISED_ROWS);
  const revise = (writes: readonly Write[]) => views.revise({ views: [VIEW], expected: [], writes });
  await revise(rowsOf("insert", ids));
  let failed = 0;
  for (let revisions = 0; revisions < REVISIONS; revisions++)
    await revise(rowsOf("upsert", ids, revisions % 2 === 0 ? "y" : "x")).catch(() => failed++);
  return failed;
};

const failed = await reviseMany();
await views.snapshot(VIEW, fill);
const full = await fill();
rmSync(ballast);
const freed = await fill();
const left = statfsSync(folder);
process.stdout.write(`${failed} ${full} ${freed} ${Math.round((left.bavail * left.bsize) / MIB)}\n`);
