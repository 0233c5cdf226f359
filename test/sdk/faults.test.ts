/** What the SDK does when something is cut off, thrown, refused or away. */
import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  type ClientOptions,
  createClient,
  createSandboxClient,
  createTestClient,
  withAudit,
} from "../../src/sdk/index.ts";
import { EVENT_BYTES_MAX } from "../../src/sdk/limits.ts";
import { canMountDisk, mountDisk } from "../support/memory-disk.ts";
import { until } from "../support/until.ts";
import { event, NOWHERE } from "./suite/events.ts";
import { rowsIn } from "./suite/folder.ts";
import { batchAnswer, problemAnswer, takeAll, withScriptedService } from "./suite/scripted-service.ts";

const temporaryFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "prooftrail-faults-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
};

test.if(await canMountDisk())(
  "a full disk takes at the end the events that it had no room for, in place of those sent meanwhile; before that they are not reported as synced",
  async () => {
    using folder = temporaryFolder();
    await using disk = await mountDisk(folder.path, 2);
    let inFolder = Number.POSITIVE_INFINITY;
    await withScriptedService(
      () => problemAnswer(503, "log_unavailable"),
      async (service) => {
        const [enter = "", ...rest] = disk.enter;
        const child = spawn(
          enter,
          [...rest, process.execPath, join(import.meta.dir, "programs/fills-its-disk.ts")],
          {
            env: { ...process.env, CAPTURE_URL: service.url, CAPTURE_FOLDER: folder.path },
            stdio: ["ignore", "pipe", "inherit"],
          },
        );
        const said: unknown[] = [];
        for await (const line of createInterface({ input: child.stdout })) {
          said.push(JSON.parse(line));
          if (said.length > 1) continue;
          inFolder = JSON.parse(line).inFolder;
          // Everything in the folder is taken, and nothing of what is in memory.
          service.script = ({ events }) =>
            events.every(({ event_id }) => Number(String(event_id).slice(4)) < inFolder)
              ? batchAnswer(events.length)
              : problemAnswer(503, "log_unavailable");
        }
        expect(said).toEqual([
          {
            inFolder,
            refused: expect.stringMatching(/ENOSPC|full/),
            left: [],
            synced: { kind: "failed", reason: expect.any(String) },
          },
          { flushed: expect.objectContaining({ kind: "pending", events: 5 }), lost: [], dropped: {} },
        ]);
      },
    );
  },
);

test("a folder with a relative path stays where it was when the client was made", async () => {
  using folder = temporaryFolder();
  const [home, elsewhere] = [process.cwd(), join(folder.path, "elsewhere")];
  mkdirSync(elsewhere);
  try {
    process.chdir(folder.path);
    const client = createClient({
      url: NOWHERE,
      apiKey: "k",
      outbox: { directory: "outbox" },
      onProblem: () => {},
    });
    process.chdir(elsewhere);
    const metadata = { text: "x".repeat(EVENT_BYTES_MAX / 5) };
    for (const event_id of ["evt_1", "evt_2"])
      expect(client.capture(event({ event_id, metadata })).kind).toBe("kept");
    await client.close({ timeoutMs: 1 });
  } finally {
    process.chdir(home);
  }
  expect((await rowsIn(join(folder.path, "outbox"))).event).toHaveLength(2);
  expect(readdirSync(elsewhere)).toEqual([]);
});

describe("an error that a program throws reaches no caller", () => {
  test("if an async callback throws", async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", listen);
    const told: string[] = [];
    const failing = (name: string) => async () => {
      told.push(name);
      throw new Error(name);
    };
    const client = createTestClient({ onDropped: failing("onDropped"), onProblem: failing("onProblem") });
    const noEvent: unknown = "no event";
    Reflect.apply(client.capture, client, [noEvent]);
    await until("both were called", () => told.includes("onDropped") && told.includes("onProblem"));
    // Unhandled rejections are reported after this turn of the loop.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });

  test("if a description throws when it is read later, or a result when it is only inspected", async () => {
    const client = createTestClient({ onProblem: () => {} });
    const late = () => ({
      event_type: "ai_inference" as const,
      get metadata(): never {
        throw new Error("late");
      },
    });
    expect(await withAudit(client, async () => 7, { asset_id: "a", describe: late })()).toBe(7);
    expect(client.stats.dropped.invalid).toBe(1);
    const strict = new Proxy(
      {},
      {
        get: (_, name) => {
          if (name === Symbol.asyncIterator) throw new Error("looked at");
          return undefined;
        },
      },
    );
    const describe = () => ({ event_type: "ai_inference" as const });
    const audited = withAudit(client, async () => strict, { asset_id: "a", describe });
    expect((await audited()) === strict).toBe(true);
  });
});

test("the sandbox client retries when it was told to, even behind events that were accepted", async () => {
  let asked = 0;
  const limited = problemAnswer(429, "rate_limited", { "retry-after": "1" });
  const answer = () => (++asked === 2 ? limited : { status: 202, body: '{"data":{}}' });
  await withScriptedService(answer, async (service) => {
    const client = createSandboxClient({ url: service.url, onProblem: () => {} });
    for (let sent = 0; sent < 3; sent++) client.capture({ asset_id: "a", event_type: "ai_inference" });
    await client.flush({ timeoutMs: 5000 });
    await client.close({ timeoutMs: 0 });
    const [, refused, next] = service.asked;
    expect((next?.atMs ?? 0) - (refused?.atMs ?? 0)).toBeGreaterThanOrEqual(990);
  });
});

test("a member that is undefined does not override a shared one", () => {
  const client = createTestClient({ source: false });
  const shared = client.with({ asset_id: "a", correlation_id: "c", metadata: { model: "m" } });
  const event: object = {
    event_type: "ai_inference",
    correlation_id: undefined,
    metadata: { model: undefined },
  };
  Reflect.apply(shared.capture, shared, [event]);
  expect(client.events[0]).toMatchObject({ correlation_id: "c", metadata: { model: "m" } });
});

test("a flush without a limit waits until everything is sent", async () => {
  await withScriptedService(takeAll, async (service) => {
    const client = createClient({ url: service.url, apiKey: "k", outbox: { memory: true } });
    client.capture({ asset_id: "a", event_type: "ai_inference" });
    expect(await client.flush({ timeoutMs: Number.POSITIVE_INFINITY })).toEqual({ kind: "flushed" });
    await client.close();
  });
});

test.each<[string, Partial<ClientOptions>]>([
  ["outbox", {}],
  ["heartbeat", { outbox: { memory: true }, heartbeat: { asset_id: "" } }],
  ["heartbeat", { outbox: { memory: true }, heartbeat: { asset_id: "a" }, source: false }],
])("a wrong option of %s is thrown with its name", (name, options) => {
  const given: unknown[] = [{ url: "http://127.0.0.1:1", apiKey: "k", ...options }];
  expect(() => Reflect.apply(createClient, undefined, given)).toThrow(name);
});
