/** A case whose events are connected one by one may have any size, and expires as a whole. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { RUNTIMES } from "../support/process.ts";

const PROGRAM = resolve(import.meta.dir, "../projections/large-case-expiry-program.ts");
/** More than V8 accepts as arguments of one call. */
const EVENTS = 140_000;

test("a case of more than a hundred thousand events expires, on Deno too", () => {
  const folder = mkdtempSync(join(tmpdir(), "prooftrail-expiry-"));
  try {
    const [deno, ...options] = RUNTIMES.Deno.slice(0, -1);
    const printed = execFileSync(deno ?? "", [...options, PROGRAM, String(EVENTS)], { cwd: folder });
    expect(JSON.parse(String(printed))).toEqual({ nodes: 1401, reduced: 700 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
