import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SHIM } from "../../src/nats/broker/server-process.ts";
import { dataFolder } from "../support/process.ts";

const FAILURE =
  "[7] 2026/11/24 18:37:01.418116 [ERR] Filestore [AUDIT] Critical write error: no space left\n";
const KILLED = 128 + 9;
const IN_ORDER = 3;
const SERVER = `trap "exit ${IN_ORDER}" TERM; echo up; while :; do sleep 0.05; done`;

const ended = async (meanwhile: {
  said?: string;
  inLogBefore?: string;
  inLog?: string;
  inRotatedLog?: string;
}): Promise<number> => {
  await using folder = await dataFolder();
  const log = join(folder.path, "nats-server.log");
  await writeFile(log, meanwhile.inLogBefore ?? "");
  const shim = spawn("/bin/sh", ["-c", SHIM, "shim", log, "/bin/sh", "-c", SERVER]);
  await once(shim.stdout, "data");
  await appendFile(log, meanwhile.inLog ?? "");
  await appendFile(`${log}.2026.11.24`, meanwhile.inRotatedLog ?? "");
  shim.stdin.end(meanwhile.said ?? "");
  const [status] = await once(shim, "exit");
  return Number(status);
};

test("a server that could write is stopped in order, even if an earlier one could not write", async () => {
  expect(await ended({})).toBe(IN_ORDER);
  expect(await ended({ inLogBefore: FAILURE, inLog: "[7] [INF] Initiating Shutdown...\n" })).toBe(IN_ORDER);
});

test("a server is killed if we call it wrong or its log says so, before or after the log was rotated", async () => {
  expect(await ended({ said: "wrong\n" })).toBe(KILLED);
  expect(await ended({ inLogBefore: FAILURE, inLog: FAILURE })).toBe(KILLED);
  expect(await ended({ inRotatedLog: FAILURE })).toBe(KILLED);
});
