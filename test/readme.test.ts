/**
 * Runs README.md as printed, in order, in a fresh copy of the repository.
 * 1. Copy what a clone would hold to an empty folder.
 * 2. Run the start command there; PORT makes it take a free port, and curl's own configuration sends requests
 *    for 127.0.0.1:8080 to that port.
 * 3. Run every other shell block, and compare each answer with the JSON printed under it.
 * 4. Stop it, and check that nothing is left.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { readRules } from "../src/obligations/overrides.ts";
import { until } from "./support/until.ts";

const root = resolve(import.meta.dir, "..");
const LEFT_OUT = new Set(["node_modules", ".git", "data", "dist"]);
const TEST_COMMAND = "npx -y bun@1.4.5 run test\n";

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocks: readonly Block[] = [
  ...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm),
].map(([, language = "", text = ""]) => ({ language, text }));
const shell = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
const [startCommand = "", ...others] = shell;
const followCommand = others.find((text) => text.includes("follow.ts")) ?? "";
const streamCommand = others.find((text) => text.includes("/v1/events/stream")) ?? "";
const exportCommand = others.find((text) => text.includes("/v1/export")) ?? "";
const evidenceCommand = others.find((text) => text.includes("/v1/evidence")) ?? "";
const commandLine = others.find((text) => text.includes("run prooftrail send")) ?? "";
const recordCommand = others.find((text) => text.includes("record.ts")) ?? "";
const notCalls = [
  TEST_COMMAND,
  followCommand,
  streamCommand,
  exportCommand,
  evidenceCommand,
  recordCommand,
  commandLine,
];
const calls = others.filter((text) => !notCalls.includes(text));

let folder = "";
let environment: Record<string, string> = {};
let service: ChildProcess | undefined;
let printed = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "prooftrail-readme-"));
  const clone = join(folder, "prooftrail");
  await cp(root, clone, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(root, path)) });
  const port = await freePort();
  await writeFile(join(folder, ".curlrc"), `connect-to = "127.0.0.1:8080:127.0.0.1:${port}"\nsilent\n`);
  const { ADMIN_API_KEY: _, NATS_URL: __, ...inherited } = process.env;
  environment = {
    ...(inherited as Record<string, string>),
    CURL_HOME: folder,
    PORT: String(port),
    PROOFTRAIL_URL: `http://127.0.0.1:${port}`,
  };
  service = spawn("sh", ["-c", startCommand], { cwd: clone, env: environment, detached: true });
  for (const stream of [service.stdout, service.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => {
      printed += text;
    });
  }
  await until(
    "the service of the README is up",
    () => {
      if (service?.exitCode !== null) throw new Error(printed);
      return printed.includes("listens at");
    },
    { timeoutMs: 60_000 },
  );
  environment = { ...environment, PATH: `${await folderOfNpx()}:${environment.PATH}` };
}, 90_000);

/**
 * Installs an `npx` that runs this Bun if that version of it is asked for, and nothing else. That npx can fetch it is seen at the start, which uses
 * the real one; each further call would spend more than half a second of CPU on it (measured).
 */
const folderOfNpx = async (): Promise<string> => {
  const path = join(folder, "npx");
  await mkdir(path);
  const script = `#!/bin/sh\n[ "$1 $2" = "-y bun@${Bun.version}" ] || exit 2\nshift 2\nexec "${process.execPath}" "$@"\n`;
  await writeFile(join(path, "npx"), script, { mode: 0o755 });
  await symlink(process.execPath, join(path, "bun"));
  return path;
};

afterAll(async () => {
  const group = service?.pid;
  if (group !== undefined) process.kill(-group, "SIGTERM");
  await until(
    "every process of the README has ended",
    async () => (await run("pgrep -f '[p]rooftrail-readme-'", { mayFail: true })) === "",
    {
      timeoutMs: 20_000,
    },
  );
  await rm(folder, { recursive: true, force: true });
}, 40_000);

test("README shows the two commands, and a first event and read", () => {
  expect(startCommand).toBe("npx -y bun@1.4.5 start\n");
  expect(shell).toContain(TEST_COMMAND);
  expect(calls.length).toBeGreaterThanOrEqual(4);
});

test("every printed call works, in order, and gets the printed answer", async () => {
  for (const call of calls) {
    const answer = await run(call);
    const next = blocks[blocks.findIndex(({ text }) => text === call) + 1];
    expect(answer).toContain('"request_id"');
    expect(answer).not.toContain("urn:prooftrail:problem");
    if (next?.language === "json") expect(withoutIdentity(answer)).toBe(withoutIdentity(next.text.trim()));
  }
  const read = await run(calls.find((text) => text.includes("min_sequence")) ?? "");
  expect(read).toContain('"event_id": "evt_first"');
}, 30_000);

test("the service accepts the printed deadlines", () => {
  const example = blocks.find(({ language }) => language === "jsonc")?.text ?? "";
  expect(readRules(example)).toMatchObject({ kind: "rules" });
});

const programWith = (text: string): string =>
  blocks.find((block) => block.language === "ts" && block.text.includes(text))?.text ?? "";

test("the printed consumer follows the decisions", async () => {
  await writeFile(join(folder, "prooftrail", "follow.ts"), programWith("consumers.get"));
  const output = await runUntil(followCommand, (text) => text.split("\n").length > 2);
  expect(output.split("\n").slice(0, 2)).toEqual([
    "1 default decision.automated_decision_made evt_first",
    "2 default decision.explanation_provided evt_second",
  ]);
}, 30_000);

test("a long outage of the broker does not end the printed consumer, as NATS would do by default without a message", () => {
  expect(programWith("consumers.get")).toContain("maxReconnectAttempts: -1");
});

test("the printed live stream shows the decisions", async () => {
  const output = await runUntil(streamCommand, (text) => text.includes("evt_second"));
  expect(output).toStartWith("retry: 2000\n");
  expect([...output.matchAll(/^id: (\d+)\nevent: audit$/gm)].map(([, id]) => id)).toEqual(["1", "2"]);
}, 30_000);

test("the printed export has both events", async () => {
  await run(exportCommand);
  const table = readFileSync(join(folder, "prooftrail", "events.csv"), "utf8");
  expect(table.match(/^\d+,/gm)).toEqual(["1,", "2,"]);
});

test("the printed evidence bundle is valid", async () => {
  const output = await run(evidenceCommand);
  expect(output).toStartWith("VALID  evidence.zip\n");
  expect(output).not.toContain("not pinned");
}, 30_000);

test("the printed commands send an event, list events, and find the service well", async () => {
  const output = await run(commandLine);
  expect(output).toContain("1 event stored, at sequence");
  expect(output).toContain("evt_second");
  // doctor reports a nearly full disk, which is no fault of the README.
  expect(output).toMatch(/\n(All is well\.|Nothing failed, )/);
  // Three programs, each started by npx.
}, 60_000);

test("the printed program records its event", async () => {
  await writeFile(join(folder, "prooftrail", "record.ts"), programWith("prooftrail-sdk"));
  expect(await run(recordCommand)).toBe("flushed 1\n");
}, 30_000);

/** The output of a command that does not end, as soon as there is enough of it. */
const runUntil = async (command: string, isEnough: (output: string) => boolean): Promise<string> => {
  const child = spawn("sh", ["-c", command], {
    cwd: join(folder, "prooftrail"),
    env: environment,
    detached: true,
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  try {
    await until(`enough has come of ${command}`, () => isEnough(output), { timeoutMs: 20_000 });
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
  return output;
};

/** Times and request ids differ from run to run, and so does the hash of a record that contains both; nothing else may differ. */
const withoutIdentity = (text: string): string =>
  text
    .replace(/"request_id":"[^"]*"/, '"request_id":""')
    .replace(/"received_at":"[^"]*"/, '"received_at":""')
    .replace(/"leaf_hash":"[^"]*"/, '"leaf_hash":""');

const run = (command: string, { mayFail = false } = {}): Promise<string> => {
  const { promise, resolve: done, reject } = Promise.withResolvers<string>();
  const child = spawn("sh", ["-ec", command], { cwd: join(folder, "prooftrail"), env: environment });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.on("close", (code) =>
    code === 0 || mayFail ? done(output) : reject(new Error(`${command}\nended with ${code}: ${output}`)),
  );
  return promise;
};

const freePort = (): Promise<number> => {
  const { promise, resolve: done } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => done(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
};
