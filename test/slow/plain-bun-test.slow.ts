/** `bun test` without options: Bun's own limit of 5 s applies to no test of any file. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

const ROOT = resolve(import.meta.dir, "../..");
const LONGER_THAN_BUNS_LIMIT = `
import { beforeAll, test } from "bun:test";
const wait = () => new Promise((done) => setTimeout(done, 5100));
beforeAll(wait);
test("waits", wait);
`;

test("every file has the suite's limit, not only the first, in tests and in hooks", async () => {
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-plain-"));
  try {
    const files = ["one.test.ts", "other.test.ts"].map((name) => join(folder, name));
    for (const file of files) await writeFile(file, LONGER_THAN_BUNS_LIMIT);
    const run = spawn(process.execPath, ["test", ...files], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [told, [code]] = await Promise.all([text(run.stderr), once(run, "exit")]);
    expect([code, told]).toEqual([0, expect.stringContaining("2 pass")]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
