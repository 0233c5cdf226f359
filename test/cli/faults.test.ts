/** What is no file, cut off, beyond the calendar or not there: told as such, with the exit code that says so. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CLI_MAIN, runCli } from "../support/cli.ts";

const temporaryFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "prooftrail-cli-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
};
const environment = { PROOFTRAIL_API_KEY: "ptk_a_b_c" };
/** Where nobody listens. */
const nowhere = ["--url", "http://127.0.0.1:9"];

test("a folder or a pipe is no bundle that could be invalid: it is not decided", async () => {
  using folder = temporaryFolder();
  expect((await runCli(["verify", folder.path])).code).toBe(2);
  const script = `echo whatever | "$0" "$1" verify /dev/stdin`;
  expect(spawnSync("sh", ["-c", script, process.execPath, CLI_MAIN]).status).toBe(2);
});

test("a key that was not made leaves no file that keeps the next try from it", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "writer.key");
  const create = ["keys", "create", "--scope", "events:write", "--save", path, ...nowhere];
  expect((await runCli(create, { environment })).code).toBe(3);
  expect(existsSync(path)).toBe(false);
});

test("a time that no calendar has is wrong use", async () => {
  const create = ["keys", "create", "--scope", "events:write", "--expires-in", "999999999w", ...nowhere];
  const { code, err } = await runCli(create, { environment });
  expect([code, err]).toEqual([2, expect.stringContaining("--expires-in 999999999w")]);
});

test("a folder is no place for an export, and nothing is asked for", async () => {
  using folder = temporaryFolder();
  let asked = 0;
  await using server = Bun.serve({ port: 0, fetch: () => new Response(`${++asked}`) });
  const url = ["--url", `http://127.0.0.1:${server.port}`];
  const { code } = await runCli(["export", "--output", folder.path, "--force", ...url], { environment });
  expect([code, asked]).toEqual([2, 0]);
});

test("an event that is refused behind a line that was cut off can be read", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "rejected.ndjson");
  writeFileSync(path, '{"line":1,"code":"inv');
  const refusal = { index: 0, code: "invalid_event", message: "m", errors: [] };
  const body = { data: { accepted: 0, rejected: 1, duplicates: 0, errors: [refusal] }, request_id: "r" };
  await using server = Bun.serve({ port: 0, fetch: () => Response.json(body, { status: 202 }) });
  const url = ["--url", `http://127.0.0.1:${server.port}`];
  await runCli(["send", "--rejected", path, ...url], { environment, input: '{"event_id":"evt_1"}\n' });
  expect(JSON.parse(readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
    line: 1,
  });
});
