/** `prooftrail demo` as its own process: what it prints, and the five questions of an auditor. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { markDemoFolder } from "../../src/cli/commands/demo.ts";
import { demoHistory } from "../../src/cli/demo/history.ts";
import { KNOWN_PERSON } from "../../src/cli/demo/journal.ts";
import { readConfig } from "../../src/service/config.ts";
import { writePast } from "../../src/service/past-log.ts";
import { testBrokerBinary } from "../support/broker.ts";
import { type RunningCli, runCli, startCli } from "../support/cli.ts";
import { dataFolder } from "../support/process.ts";
import { createCaller } from "../support/service.ts";
import { until } from "../support/until.ts";

let folder: Awaited<ReturnType<typeof dataFolder>>;
let demo: RunningCli;

const startDemo = async (path: string): Promise<RunningCli> =>
  await startCli(["demo", "--port", "0", "--data-dir", path], {
    // Nobody answers there. A demo that took these settings would not start, and beside a real service it would write into its log.
    environment: {
      NATS_SERVER_BIN: await testBrokerBinary(),
      NATS_URL: "nats://127.0.0.1:1",
      DATABASE_URL: "postgres://127.0.0.1:1/none",
      ADMIN_API_KEY: "an-admin-key-of-somebody-else",
    },
  });

const isReady = ({ child, err }: RunningCli): boolean => {
  if (child.exitCode !== null) throw new Error(`the demo ended with ${child.exitCode}: ${err}`);
  return err.includes("Ctrl-C stops it");
};
const linkIn = ({ err }: RunningCli): string => /open\s+(http:\S+)/.exec(err)?.[1] ?? "";
const urlIn = (running: RunningCli): string => new URL(linkIn(running)).origin;
const path = (): string => join(folder.path, "nordbank");
const keyText = (): string => readFileSync(join(path(), "demo.key"), "utf8").trim();
const ask = async (question: string) => (await createCaller(urlIn(demo), keyText())(question)).json;

beforeAll(async () => {
  folder = await dataFolder();
  demo = await startDemo(path());
  await until("the demo is ready", () => isReady(demo));
});

afterAll(async () => {
  await demo[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test("it prints one address, and where the key of the tenant demo is; only its owner can read the key", async () => {
  expect(demo.err.match(/http:\S+/g)).toHaveLength(1);
  expect(demo.err).toContain(join(path(), "demo.key"));
  expect(demo.err).not.toContain(keyText());
  expect(statSync(join(path(), "demo.key")).mode & 0o777).toBe(0o600);
});

test("its link opens the console once", async () => {
  const { origin, pathname, hash } = new URL(linkIn(demo));
  expect(pathname).toBe("/sign-in");
  const key = hash.replace("#once=", "");
  const signIn = () => createCaller(origin, key)("/v1/session?once=true", { method: "POST" });
  const first = await signIn();
  expect([first.status, first.json.data.tenant]).toEqual([201, "demo"]);
  expect((await signIn()).status).toBe(401);
});

test("the built program serves the console", async () => {
  const origin = urlIn(demo);
  const page = await (await fetch(origin)).text();
  const script = /src="\.\/(console\/[^"]+\.js)"/.exec(page)?.[1];
  const answer = await fetch(`${origin}/${script}`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "text/javascript; charset=utf-8",
  ]);
});

test("every proof names the demo as its origin", async () => {
  const note = await createCaller(urlIn(demo), keyText())("/v1/log/checkpoint");
  expect(note.text).toStartWith("prooftrail-demo/demo\n");
});

describe("the five questions of an auditor", () => {
  test("which systems decided about this person within a month", async () => {
    const hash = createHash("sha256").update(KNOWN_PERSON).digest("hex");
    const { data } = await ask(`/v1/decisions?subject_hash=sha256:${hash}`);
    expect(data.map((each: { asset_id: string }) => each.asset_id).toSorted()).toEqual([
      "consumer-credit-eu",
      "consumer-credit-eu",
      "payment-fraud-screening",
    ]);
  });

  test("was each decision announced: one was not, and one explanation names no decision", async () => {
    const { data } = await ask("/v1/decisions/dec-known-payment");
    expect(data.missing).toContain("notice");
    const unlinked = (await ask("/v1/decisions/dec-call-a")).data.unlinked;
    expect(unlinked[0]).toMatchObject({ candidates: [{ id: "dec-call-a" }, { id: "dec-call-b" }] });
  });

  test("were objections answered in time: some late, one recorded late, one waived with its reason", async () => {
    const late = await ask("/v1/obligations?recorded_late=true");
    expect(late.data.map((each: { decision_id: string }) => each.decision_id)).toContain("dec-recorded-late");
    const [waived] = (await ask("/v1/obligations?state=waived")).data;
    expect(waived).toMatchObject({
      decision_id: "dec-waived",
      waived_reason: expect.stringContaining("branch"),
    });
    expect((await ask("/v1/obligations?state=met_late")).data.length).toBeGreaterThan(2);
  });

  test.each(["overdue", "due_soon", "breached", "extended", "open"])(
    "what is due: there is something %s",
    async (state) => {
      expect((await ask(`/v1/obligations?state=${state}`)).data.length).toBeGreaterThan(0);
    },
  );

  test("the evidence for the authority verifies", async () => {
    const call = createCaller(urlIn(demo), keyText());
    const bundle = join(folder.path, "bundle.zip");
    const key = join(folder.path, "log.key");
    // The newest event may not be sealed yet.
    await until(
      "the log is sealed",
      async () => (await call("/v1/log/checkpoint")).text.split("\n")[1] !== "0",
    );
    await writeFile(key, (await call("/v1/log/key")).text);
    const settings = { PROOFTRAIL_URL: urlIn(demo), PROOFTRAIL_API_KEY: keyText() };
    const made = await runCli(["evidence", "--asset-id", "consumer-credit-eu", "--output", bundle], {
      environment: settings,
    });
    expect(made).toMatchObject({ code: 0 });
    const verified = await runCli(["verify", "--key", key, bundle]);
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining("VALID") });
  });
});

test("senders: one has lost numbers, one is silent", async () => {
  expect((await ask("/v1/sources/gaps")).data).toHaveLength(1);
  const { data } = await ask("/v1/sources");
  const beats = data.map((each: { heartbeat_at: string }) => each.heartbeat_at.slice(0, 10));
  expect(new Set(beats).size).toBe(2);
});

test("registers are filled", async () => {
  for (const [name, least] of [
    ["assets", 5],
    ["registers/transparency", 100],
    ["registers/objections", 75],
    ["registers/human-reviews", 50],
    ["registers/incidents", 4],
    ["registers/assessments", 5],
    ["registers/models", 8],
    ["registers/risk-changes", 3],
  ] as const)
    expect((await ask(`/v1/${name}?limit=100`)).data.length, name).toBeGreaterThanOrEqual(least);
});

test("the counts of what was accepted agree with the log", async () => {
  expect((await ask("/v1/reconciliation")).data.is_balanced).toBe(true);
});

test("a second start continues with the same data and the same key", async () => {
  const key = keyText();
  const { data: before } = await ask("/v1/events?limit=1");
  demo.child.kill("SIGTERM");
  expect((await demo.ended()).code).toBe(0);
  demo = await startDemo(path());
  await until("the demo is ready again", () => isReady(demo));
  expect(keyText()).toBe(key);
  expect(demo.err).not.toContain("Writing");
  const { data: after } = await ask("/v1/events?limit=1");
  expect(after).toEqual(before);
});

test("a start that was interrupted is completed by the next one: every event is there once", async () => {
  const other = join(folder.path, "interrupted");
  const day = new Date().toISOString().slice(0, 10);
  await mkdir(other);
  await markDemoFolder(other, { day, events: 0 });
  const read = readConfig({
    DATA_DIR: other,
    NATS_SERVER_BIN: await testBrokerBinary(),
    LOG_LEVEL: "silent",
    EXTRA_EVENT_TYPES: "sdk.heartbeat",
  });
  if (read.kind === "invalid") throw new Error(read.errors.join());
  const { entries } = demoHistory(day);
  await writePast({ config: read.config, tenant: "demo", events: entries.slice(0, 700) });
  await using second = await startDemo(other);
  await until("it is ready", () => isReady(second));
  const key = readFileSync(join(other, "demo.key"), "utf8").trim();
  const { text } = await createCaller(urlIn(second), key)("/v1/export");
  const ids = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).event.event_id);
  expect(ids).toEqual(entries.map(({ event }) => event.event_id));
});

test("on a later day it continues, and says for which day its history was made", async () => {
  demo.child.kill("SIGTERM");
  await demo.ended();
  const mark = JSON.parse(readFileSync(join(path(), "demo.json"), "utf8"));
  await markDemoFolder(path(), { ...mark, day: "2026-01-01" });
  demo = await startDemo(path());
  await until("the demo is ready again", () => isReady(demo));
  expect(demo.err).not.toContain("Writing");
  expect(demo.err).toContain("Its history ends with 2026-01-01");
  expect((await ask("/v1/decisions/dec-overdue")).data.outcome).toBe("denied");
});

test.each([
  ["without a broker", { NATS_SERVER_BIN: "/nowhere/nats-server" }, "free", 1, "NATS_SERVER_BIN"],
  ["where the folder is a file", {}, "file/in", 2, "cannot be used"],
] as const)("%s it says what is wrong, without a stack", async (_, environment, name, code, says) => {
  await writeFile(join(folder.path, "file"), "");
  const failed = await runCli(["demo", "--port", "0", "--data-dir", join(folder.path, name)], {
    environment,
  });
  expect(failed.code).toBe(code);
  expect(failed.err).toContain(says);
  expect(failed.err).not.toMatch(/^\s+at /m);
});

test("a folder of something else is refused, and nothing in it changes", async () => {
  const other = join(folder.path, "mine");
  await mkdir(other);
  await writeFile(join(other, "views.sqlite"), "mine");
  const refused = await runCli(["demo", "--data-dir", other]);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("something other than a demo") });
  expect(readFileSync(join(other, "views.sqlite"), "utf8")).toBe("mine");
});
