/** What plain `bun test` runs, and with which limits. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
const files = ["src", "streams", "test"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
);

test("slow tests are the files of test/slow, and their names hide them from plain `bun test`", () => {
  const slow = files.filter((path) => path.endsWith(".slow.ts"));
  expect(slow.length).toBeGreaterThan(10);
  expect(files.filter((path) => path.startsWith("test/slow/"))).toEqual(slow);
});

test("a module of src has only tests that need no process and no broker", () => {
  const needing = files
    .filter((path) => path.startsWith("src/") && path.endsWith(".test.ts"))
    .filter((path) => /support\/(process|service|cluster|log|postgres|cli)\.ts"/.test(read(path)));
  expect(needing).toEqual([]);
});

test("no test and no wait has its own limit: support/time-limits.ts has the only ones", () => {
  // The last argument of a test or hook, formatted: `}, 30_000);`, or alone on its line before `);`.
  const own = /^\s*\}, [\d_]+\);$|^ +\},\n +[\d_]+,\n *\);$|\b(test|beforeAll|afterAll)\(.*, [\d_]+\);$/m;
  const limited = files.filter((path) => path.endsWith(".ts") && own.test(read(path)));
  expect(limited.filter((path) => /\.(test|slow|suite)\.ts$|^test\/suites\//.test(path))).toEqual([]);
});

const read = (path: string): string => readFileSync(join(root, path), "utf8");
