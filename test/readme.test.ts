/**
 * Runs README.md and the pages as printed, in order, in a fresh copy of the repository.
 * 1. Copy what a clone would hold to an empty folder.
 * 2. Run the start command there; PORT makes it take a free port, and curl's own configuration sends requests
 *    for 127.0.0.1:8080 to that port.
 * 3. Write each program that the text says to save, and run every other shell block (```sh). In README each answer is compared with the JSON
 *    printed under it. Blocks that need another machine are ```bash, and are not run.
 * 4. Run the examples.
 * 5. Stop it, and check that nothing is left.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { readRules } from "../src/law/obligations/overrides.ts";
import { freePorts } from "./support/cluster.ts";
import { until } from "./support/until.ts";

const root = resolve(import.meta.dir, "..");
const LEFT_OUT = new Set(["node_modules", ".git", "data", "demo-data", "dist"]);
const START_COMMAND = "npx -y bun@1.4.5 start\n";
const TEST_COMMAND = "npx -y bun@1.4.5 run test\n";

interface Block {
  readonly language: string;
  readonly text: string;
  /** The name under which the text before it says to save it. */
  readonly file: string | undefined;
}

const blocksOf = (path: string): readonly Block[] =>
  [
    ...readFileSync(join(root, path), "utf8").matchAll(
      /(?:[Ss]ave this as `([\w.]+)`[^\n]*\n+)?^```(\w+)\n([\s\S]*?)^```$/gm,
    ),
  ].map(([, file, language = "", text = ""]) => ({ language, text, file }));

const shellOf = (path: string): readonly string[] =>
  blocksOf(path)
    .filter(({ language, text }) => language === "sh" && text !== START_COMMAND && text !== TEST_COMMAND)
    .map(({ text }) => text);

const README = blocksOf("README.md");
const PAGES = [
  "docs/tutorial.md",
  ...readdirSync(join(root, "docs/how-to"))
    .sort()
    .map((name) => `docs/how-to/${name}`),
].filter((path) => shellOf(path).length > 0);

/** Commands that do not end, and the line that shows that they work. */
const ENDLESS: readonly (readonly [part: string, shows: string])[] = [
  ["curl -N", "event: audit"],
  ["follow.ts", "decision.automated_decision_made evt_decision"],
];

let folder = "";
let environment: Record<string, string> = {};
let service: ChildProcess | undefined;
let printed = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "prooftrail-readme-"));
  const clone = join(folder, "prooftrail");
  await cp(root, clone, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(root, path)) });
  const [port = 0] = await freePorts(1);
  await writeFile(join(folder, ".curlrc"), `connect-to = "127.0.0.1:8080:127.0.0.1:${port}"\nsilent\n`);
  const { ADMIN_API_KEY: _, NATS_URL: __, ...inherited } = process.env;
  environment = {
    ...(inherited as Record<string, string>),
    CURL_HOME: folder,
    PORT: String(port),
    PROOFTRAIL_URL: `http://127.0.0.1:${port}`,
  };
  service = spawn("sh", ["-c", START_COMMAND], { cwd: clone, env: environment, detached: true });
  for (const stream of [service.stdout, service.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => {
      printed += text;
    });
  }
  await until("the service of the README is up", () => {
    if (service?.exitCode !== null) throw new Error(printed);
    return printed.includes("listens at");
  });
  environment = { ...environment, PATH: `${await folderOfNpx()}:${environment.PATH}` };
});

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
  );
  await rm(folder, { recursive: true, force: true });
});

test("README shows the two commands", () => {
  const shell = README.filter(({ language }) => language === "sh").map(({ text }) => text);
  expect(shell[0]).toBe(START_COMMAND);
  expect(shell).toContain(TEST_COMMAND);
});

describe("README", () => {
  test("every printed command works, in order, and gets the printed answer", async () => {
    await saveFiles("README.md");
    for (const command of shellOf("README.md")) {
      const answer = await run(command);
      const next = README[README.findIndex(({ text }) => text === command) + 1];
      expect(answer).not.toContain("urn:prooftrail:problem");
      if (next?.language === "json") expect(timeless(answer)).toBe(timeless(next.text.trim()));
    }
  });

  test("the story is true: the explanation is that of the decision, its obligation is overdue, and the bundle verifies", async () => {
    const [dossier = "", overdue = "", verify = "", record = ""] = shellOf("README.md").slice(2);
    const { data } = JSON.parse(await run(dossier));
    expect(data).toMatchObject({ outcome: "denied", explanation_at: "2026-09-02T09:30:00Z" });
    expect(data.objections).toMatchObject([{ objection_id: "obj_7", resolved_at: null }]);
    expect(data.timeline.map(({ event }: { event: { event_id: string } }) => event.event_id)).toEqual([
      "evt_decision",
      "evt_explanation",
      "evt_objection",
    ]);
    expect(JSON.parse(await run(overdue)).data).toContainEqual(
      expect.objectContaining({
        obligation_id: expect.stringContaining("GDPR-12-3"),
        decision_id: "dec_42",
        due_at: expect.stringContaining("2026-10-05T"),
        state: "overdue",
      }),
    );
    const verified = await run(verify);
    expect(verified).toStartWith("VALID  evidence.zip\n");
    expect(verified).not.toContain("not pinned");
    expect(await run(record)).toBe("flushed 1\n");
  });
});

describe("pages", () => {
  test.each(PAGES)("%s: every printed command works", async (page) => {
    await saveFiles(page);
    for (const command of shellOf(page)) {
      const endless = ENDLESS.find(([part]) => command.includes(part));
      const output = endless
        ? await runUntil(command, (text) => text.includes(endless[1]))
        : await run(command);
      expect([command, output]).toEqual([command, expect.not.stringContaining("urn:prooftrail:problem")]);
      await viewsHaveSeen(output);
    }
  });

  test("the printed rules are accepted", () => {
    const example = blocksOf("docs/how-to/answer-an-auditor.md").find(({ language }) => language === "jsonc");
    expect(readRules(example?.text ?? "")).toMatchObject({ kind: "rules" });
  });

  test("a long outage of the broker does not end the printed consumer, as NATS would do by default without a message", () => {
    const program = blocksOf("docs/how-to/follow-the-stream.md").find(({ language }) => language === "ts");
    expect(program?.text).toContain("maxReconnectAttempts: -1");
  });

  test("examples run: curl, the SDK, and a consumer that continues where it was killed", async () => {
    const key = "PROOFTRAIL_API_KEY=$(cat data/admin.key)";
    expect(await run(`${key} sh examples/curl/send.sh`)).toContain('"explanation_at":"2026-11-20T10:05:00Z"');
    expect(await run(`${key} bun examples/typescript/record.ts`)).toBe("flushed 2\n");
    const consume = "bun examples/consumer/objections.ts";
    const first = await runUntil(consume, (text) => text.includes("evt_tutorial_objection"));
    expect(first).toContain("default credit_model evt_objection");
    await run(
      `${key}; curl --fail $PROOFTRAIL_URL/v1/events -H "Authorization: Bearer $PROOFTRAIL_API_KEY" -H 'Content-Type: application/json' -d '{"event_id": "evt_later", "timestamp": "2026-11-21T10:00:00Z", "asset_id": "loan_model", "event_type": "objection.received"}'`,
    );
    const again = await runUntil(consume, (text) => text.includes("evt_later"));
    expect(again).not.toContain("evt_objection");
  });
});

/** A page's next block is read by a person, after the views have followed. */
const viewsHaveSeen = async (output: string): Promise<void> => {
  const sequence = Math.max(0, ...[...output.matchAll(/"sequence":(\d+)/g)].map(([, each]) => Number(each)));
  const ask = `curl "http://127.0.0.1:8080/v1/decisions?limit=1&min_sequence=${sequence}" -H "Authorization: Bearer $(cat data/admin.key)"`;
  await until("the views have seen it", async () => (await run(ask)).includes('"data"'));
};

const saveFiles = async (page: string): Promise<void> => {
  for (const { file, text } of blocksOf(page))
    if (file !== undefined) await writeFile(join(folder, "prooftrail", file), text);
};

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
    await until(`enough has come of ${command}`, () => isEnough(output));
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
  return output;
};

/** Times and request ids differ from run to run, and so does the hash of a record that contains both; nothing else may differ. */
const timeless = (text: string): string =>
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
