/**
 * How many files one event crosses, from POST over its view to GET, and one obligation, from its event to its announcement and to GET. Counted where
 * the program runs: the coverage of a run with many events, less that of a run without any. The numbers only go down.
 */
import { afterAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { TEST_MS_MAX } from "../support/time-limits.ts";

const EVENT_FILES_MAX = 65;
const OBLIGATION_FILES_MAX = 22;

const ROOT = resolve(import.meta.dir, "../..");
/** More than any background loop turns while the program runs. */
const TIMES = 200;

const folder = await mkdtemp(join(tmpdir(), "prooftrail-way-"));
afterAll(() => rm(folder, { recursive: true }));

/** How often each line ran, under `file:line`. */
const linesRun = async (kind: string, times: number): Promise<ReadonlyMap<string, number>> => {
  const directory = join(folder, `${kind}-${times}`);
  const coverage = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${directory}`];
  const program = ["--timeout", String(TEST_MS_MAX), "./test/support/straight-way-program.ts"];
  const run = spawn(process.execPath, ["test", ...coverage, ...program], {
    cwd: ROOT,
    env: { ...process.env, KIND: kind, TIMES: String(times) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(run, "exit");
  expect(code).toBe(0);
  const runs = new Map<string, number>();
  let file = "";
  for (const line of (await readFile(join(directory, "lcov.info"), "utf8")).split("\n")) {
    if (line.startsWith("SF:")) file = line.slice(3);
    const [, place, count] = /^DA:(\d+),(\d+)/.exec(line) ?? [];
    if (place !== undefined) runs.set(`${file}:${place}`, Number(count));
  }
  return runs;
};

const filesCrossed = async (kind: string): Promise<readonly string[]> => {
  const [many, none] = [await linesRun(kind, TIMES), await linesRun(kind, 0)];
  const lines = [...many].filter(([line, count]) => count - (none.get(line) ?? 0) >= 0.9 * TIMES);
  return [...new Set(lines.map(([line]) => line.split(":")[0] ?? ""))]
    .filter((file) => /^(src|streams)\//.test(file))
    .sort();
};

const isOfOneEvent = (file: string): boolean =>
  !/^src\/(law|proof)\//.test(file) &&
  (!file.startsWith("src/views/") || /^src\/views\/(store|kit|events)\//.test(file));

const isOfObligations = (file: string): boolean =>
  /^src\/law\/(cases|obligations)\/|^src\/views\/(cases|duty-notifications)\/|^src\/nats\/duty|^src\/api\/routes\/obligations/.test(
    file,
  );

test.each([
  ["an event", "event", isOfOneEvent, EVENT_FILES_MAX],
  ["an obligation", "obligation", isOfObligations, OBLIGATION_FILES_MAX],
] as const)("%s crosses few files", async (_, kind, isOnTheWay, most) => {
  const files = (await filesCrossed(kind)).filter(isOnTheWay);
  expect(files.length).toBeGreaterThan(10);
  // The list shows what is new.
  expect(files.length <= most ? [] : files).toEqual([]);
});
