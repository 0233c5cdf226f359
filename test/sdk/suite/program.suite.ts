/** What only a program of its own can show. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { commandOf } from "./program.ts";

const outputOf = async (name: string): Promise<string> => {
  const [command, ...parameters] = commandOf(name);
  const { stdout } = await promisify(execFile)(command, parameters, { timeout: 20_000 });
  return stdout;
};

test("a client keeps no program alive that is done", async () => {
  assert.equal(await outputOf("ends-by-itself"), "0\n");
});

test("an audited call that is rejected and that nobody handles is still an unhandled rejection, and a handled one is not", async () => {
  assert.equal(await outputOf("unhandled-rejection"), "unhandled: nobody's\n");
});
