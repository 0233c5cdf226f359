/**
 * This program against an earlier commit of it, on one machine in one run: `bun run bench against <commit> [events] [part…]`. Parts: taking,
 * projecting (with reading), capture. The commit gets a worktree of its own, with the packages of its own lock file. What counts is the ratio;
 * ends with 1 if a floor does not hold.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { measureCapture } from "./against/capture.ts";
import { type Figure, holds, tableOf } from "./against/figures.ts";
import { checkOut, type Program, removeTree } from "./against/programs.ts";
import { measureTaking } from "./against/taking.ts";
import { fillLogs, measureProjecting, measureReading } from "./against/views.ts";
import { root } from "./subject.ts";

const EVENTS_DEFAULT = 200_000;
const PARTS = ["capture", "taking", "projecting"] as const;

const measure = async (before: Program, now: Program, events: number, parts: readonly string[]) => {
  const figures: Figure[] = [];
  if (parts.includes("capture")) figures.push(...(await measureCapture(before, now)));
  if (parts.includes("taking")) figures.push(...(await measureTaking(before, now)));
  if (parts.includes("projecting")) {
    const programs = [before, now].map((program) => ({ ...program, dataDir: `${program.dataDir}-log` }));
    const [one, other] = programs;
    if (!one || !other) return figures;
    await fillLogs(programs, events);
    figures.push(...(await measureProjecting([one, other], events)));
    figures.push(...(await measureReading([one, other], events)));
  }
  return figures;
};

const [, , word, commit, ...rest] = process.argv;
const events = Number(rest.find((text) => /^\d+$/.test(text)) ?? EVENTS_DEFAULT);
const parts = rest.filter((text) => !/^\d+$/.test(text));
const unknown = parts.find((part) => !PARTS.some((known) => known === part));
if (word !== "against" || commit === undefined || unknown !== undefined) {
  process.stderr.write(
    `${unknown === undefined ? "" : `There is no part ${unknown}. `}Usage: bun run bench against <commit> [events] [${PARTS.join("|")}…]\n`,
  );
  process.exit(2);
}
const folder = await mkdtemp(join(tmpdir(), "prooftrail-against-"));
const tree = join(folder, "tree");
try {
  await checkOut(commit, tree);
  const before: Program = { tree, dataDir: join(folder, "before") };
  const now: Program = { tree: root, dataDir: join(folder, "now") };
  const figures = await measure(before, now, events, parts.length === 0 ? PARTS : parts);
  process.stdout.write(tableOf(figures, commit));
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  await removeTree(tree);
  await rm(folder, { recursive: true, force: true });
}
