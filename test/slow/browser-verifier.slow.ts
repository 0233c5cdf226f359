/** The verifier with what browsers have in the place of Node's modules: the same tests, the same verdicts. */
import { expect, test } from "bun:test";
import { resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");

test.each([
  ["the standards", "./src/proof"],
  ["bundles that somebody changed", "./test/slow/evidence-mutations.slow.ts"],
])("%s: no test fails with the primitives of browsers", async (_, tests) => {
  const preload = "./test/support/browser-primitives.ts";
  const run = Bun.spawn([process.execPath, "test", "--timeout", "600000", "--preload", preload, tests], {
    cwd: root,
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await new Response(run.stderr).text();
  expect([await run.exited, said.match(/^\(fail\).*$/gm) ?? []]).toEqual([0, []]);
  expect(said).toMatch(/^ [1-9]\d* pass$/m);
});
