/**
 * Changes rows of a view in this folder without moving it, as expiry does, until several times the disk has gone through the WAL. Then it writes rows until no
 * more go while somebody looks at the view, and goes on when nobody does, until the disk is full, gives a third of the disk back,
 * and writes until it is full again. Prints how many changes failed, the size of the view's file in MiB at both times, and what
 * is left of the disk: it is told where the disk can be seen, which is in this process and not in the test's.
 */
import { randomUUID } from "node:crypto";
import { rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setImmediate } from "node:timers/promises";
import { createSqliteViews } from "../../src/views/sqlite.ts";
import { type Table, TEXT } from "../../src/views/tables.ts";
import type { Write } from "../../src/views/view-store.ts";

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
/** As a runner does, which tries until it is told to stop. */
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

/** A row that is written as it stands would change no page. */
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
