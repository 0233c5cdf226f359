/** Builds the pages with vitepress, which fails for a dead link and for what it cannot compile. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../support/documents.ts";

test("`bun run docs` builds every page, and finds no dead link", async () => {
  const built = join(root, "dist/docs");
  await rm(built, { recursive: true, force: true });
  const build = Bun.spawn([process.execPath, "run", "docs"], { cwd: root, stdout: "pipe", stderr: "pipe" });
  const output = `${await new Response(build.stdout).text()}${await new Response(build.stderr).text()}`;
  expect([await build.exited, output]).toEqual([0, expect.stringContaining("build complete")]);
  for (const page of ["index", "tutorial", "reference/settings", "why/guarantees"])
    expect([page, existsSync(join(built, `${page}.html`))]).toEqual([page, true]);
});
