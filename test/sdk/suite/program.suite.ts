/** What only a program of its own can show. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { commandOf } from "./program.ts";

test("a client keeps no program alive that is done", async () => {
  const [command, ...parameters] = commandOf("ends-by-itself");
  const { stdout } = await promisify(execFile)(command, parameters, { timeout: 20_000 });
  assert.equal(stdout, "0\n");
});
