/** What the SDK does when something is cut off, thrown, refused or away. */
import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeadLetterFile } from "../../src/sdk/dead-letters.ts";
import { createFileOutbox } from "../../src/sdk/file-outbox.ts";
import { FileSync } from "../../src/sdk/file-sync.ts";
import { FRAME_BYTES, writeFrame } from "../../src/sdk/frame.ts";
import {
  type ClientOptions,
  createClient,
  createSandboxClient,
  createTestClient,
  withAudit,
} from "../../src/sdk/index.ts";
import { EVENT_BYTES_MAX, RESENT_AFTER_MS } from "../../src/sdk/limits.ts";
import { type Damage, Segment } from "../../src/sdk/segment.ts";
import { uuid7 } from "../../src/sdk/uuid.ts";
import { fill } from "../support/full-disk.ts";
import { canMountDisk, mountDisk } from "../support/memory-disk.ts";
import { until } from "../support/until.ts";
import { event, NOWHERE } from "./suite/events.ts";
import { batchAnswer, problemAnswer, takeAll, withScriptedService } from "./suite/scripted-service.ts";

const temporaryFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "prooftrail-faults-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
};

const framed = (text: string): Uint8Array => {
  const bytes = new TextEncoder().encode(text);
  const into = new Uint8Array(bytes.length + 10);
  writeFrame(bytes, into);
  return into;
};

const undamaged: Damage = {
  onUnreadable: () => expect.unreachable("nothing is damaged"),
  onCut: () => expect.unreachable("nothing is cut"),
};

describe("a line that was cut off", () => {
  test("in the file of settled entries settles no other entry together with the text written behind it", async () => {
    using folder = temporaryFolder();
    const id = uuid7(Date.now());
    const path = join(folder.path, `owner.${id}`);
    const entries = Array.from({ length: 20 }, (_, index) => framed(`{"n":${index}}`));
    writeFileSync(`${path}.events`, Buffer.concat(entries));
    // Of "12" and its line feed only the first digit is there.
    writeFileSync(`${path}.settled`, "0\n1");
    const heir = await Segment.read(path, id);
    heir.settle(await heir.choose({ events: 5, bytes: 1_000_000 }, undamaged));
    const next = await Segment.read(path, id);
    const left = await next.choose({ events: 100, bytes: 1_000_000 }, undamaged);
    expect(left.map(({ index }) => index)).toEqual(Array.from({ length: 14 }, (_, at) => at + 6));
  });

  test("in the dead letters loses only itself", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "dead-letters.ndjson");
    writeFileSync(path, '{"rejected_at":"2026-11-20T10:00:00.000Z","code":"inv');
    const rejection = { code: "invalid_event", message: "m", errors: [] };
    const letter = { eventId: "evt_1", rejection, text: '{"event_id":"evt_1"}' };
    const file = createDeadLetterFile(path);
    for (let kept = 0; kept < 2; kept++) expect(await file.keep([letter])).toEqual({ kind: "kept" });
    const [, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).event.event_id)).toEqual(["evt_1", "evt_1"]);
  });
});

test("a folder that could not be synced is synced with the next sync", async () => {
  using folder = temporaryFolder();
  const files = new FileSync(join(folder.path, "not-there"), () => {});
  files.made();
  for (let tried = 0; tried < 2; tried++) expect((await files.sync()).kind).toBe("failed");
  expect(files.isDue).toBe(true);
});

test("an outbox that is closed during a sync of its files waits until they are synced and closed", async () => {
  using folder = temporaryFolder();
  const told: string[] = [];
  const files = new FileSync(folder.path, (reason) => told.push(reason));
  const path = join(folder.path, "left.events");
  const fd = openSync(path, "w");
  files.made();
  files.finished({ fd, path, isSettled: false, onUnsynced: (reason) => told.push(reason) });
  void files.syncQuietly();
  // As the outbox's `close()` does: nothing is due any more.
  await files.syncQuietly();
  expect(() => fstatSync(fd)).toThrow("EBADF");
  expect(told).toEqual([]);
});

/** Replaces the one open file by a device that accepts writes, and that the kernel refuses to sync. */
const makeUnsyncable = (directory: string): void => {
  const fd = readdirSync("/proc/self/fd").find((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(`${directory}/`);
    } catch {
      return false;
    }
  });
  closeSync(Number(fd));
  expect(openSync("/dev/null", "w")).toBe(Number(fd));
};

test.if(process.platform === "linux")(
  "an event that the disk failed to sync is not reported as synced by a later sync, even when its file is closed, until it is delivered",
  async () => {
    using folder = temporaryFolder();
    await withScriptedService(
      () => "hang",
      async (service) => {
        const client = createClient({
          url: service.url,
          apiKey: "k",
          outbox: { directory: folder.path, sync: "never" },
          batch: { intervalMs: 60_000 },
          requestTimeoutMs: 300,
          onProblem: () => {},
        });
        client.capture(event({ event_id: "evt_1" }));
        makeUnsyncable(folder.path);
        expect(await client.synced()).toEqual({ kind: "failed", reason: expect.any(String) });
        // The next event goes into a file that can be synced, and nothing of the first is left to retry.
        client.capture(event({ event_id: "evt_2" }));
        const reason = expect.stringContaining("1 event may not be on the disk until delivered");
        for (let tried = 0; tried < 3; tried++)
          expect(await client.synced()).toEqual({ kind: "failed", reason });
        service.script = takeAll;
        await client.flush();
        expect(await client.synced()).toEqual({ kind: "synced" });
        await client.close();
        expect(service.eventIds).toContain("evt_2");
      },
    );
  },
);

test("events in a folder that somebody emptied are not reported as synced", async () => {
  using folder = temporaryFolder();
  const directory = join(folder.path, "outbox");
  const problems: string[] = [];
  const client = createClient({
    url: NOWHERE,
    apiKey: "k",
    outbox: { directory },
    onProblem: ({ message }) => problems.push(message),
  });
  client.capture(event({ event_id: "evt_1" }));
  expect(await client.synced()).toEqual({ kind: "synced" });
  rmSync(directory, { recursive: true });
  client.capture(event({ event_id: "evt_2" }));
  expect(await client.synced()).toEqual({ kind: "failed", reason: expect.stringContaining("was emptied") });
  // It was still open, and is written again.
  expect(await client.synced()).toEqual({ kind: "synced" });
  const files = readdirSync(directory).filter((name) => name.endsWith(".events"));
  const text = files.map((name) => readFileSync(join(directory, name), "utf8")).join("");
  expect(text.match(/evt_\d/g)).toEqual(["evt_1", "evt_2"]);
  // The same after the lease was given up, except for files that are no longer open.
  client.capture(event({ event_id: "evt_3" }));
  for (const name of readdirSync(directory)) if (name.endsWith(".events")) rmSync(join(directory, name));
  expect(await client.synced()).toEqual({
    kind: "failed",
    reason: expect.stringContaining("no longer there"),
  });
  await client.close({ timeoutMs: 1 });
  expect(await client.synced()).toEqual({ kind: "synced" });
  expect(readdirSync(directory).filter((name) => name.endsWith(".lease"))).toEqual([]);
});

test.if(await canMountDisk())(
  "a full disk takes at the end the events that it had no room for, in place of those sent meanwhile",
  async () => {
    using folder = temporaryFolder();
    await using disk = await mountDisk(folder.path, 2);
    const directory = join(disk.root + folder.path, "outbox");
    const lost: (string | undefined)[] = [];
    const problems: string[] = [];
    await withScriptedService(
      () => problemAnswer(503, "log_unavailable"),
      async (service) => {
        const client = createClient({
          url: service.url,
          apiKey: "k",
          outbox: { directory },
          batch: { intervalMs: 5 },
          onDropped: ({ eventId }) => lost.push(eventId),
          onProblem: ({ kind }) => problems.push(kind),
        });
        const metadata = { text: "x".repeat(EVENT_BYTES_MAX / 4) };
        let captured = 0;
        const capture = () => client.capture(event({ event_id: `evt_${captured++}`, metadata })).kind;
        for (let first = 0; first < 8; first++) expect(capture()).toBe("kept");
        await fill(join(disk.root + folder.path, "ballast"));
        while (!problems.includes("outbox")) expect(capture()).toBe("kept");
        for (let held = 0; held < 4; held++) expect(capture()).toBe("kept");
        const [inFolder, inMemory] = [captured - 5, 5];
        // Everything in the folder is taken, and nothing of what is in memory.
        service.script = ({ events }) =>
          events.every(({ event_id }) => Number(String(event_id).slice(4)) < inFolder)
            ? batchAnswer(events.length)
            : problemAnswer(503, "log_unavailable");
        await until("the folder's are sent", async () => {
          await client.flush({ timeoutMs: 20 });
          return client.stats.delivered === inFolder;
        });
        expect(await client.close({ timeoutMs: 1 })).toMatchObject({ kind: "pending", events: inMemory });
        expect([lost, client.stats.dropped]).toEqual([[], {}]);
      },
    );
  },
);

test.if(await canMountDisk())(
  "a client that cannot start because the disk is full leaves no files, however often it is tried",
  async () => {
    using folder = temporaryFolder();
    await using disk = await mountDisk(folder.path, 1);
    const directory = join(disk.root + folder.path, "outbox");
    mkdirSync(directory);
    await fill(join(disk.root + folder.path, "ballast"));
    for (let tried = 0; tried < 3; tried++)
      expect(() => createClient({ url: NOWHERE, apiKey: "k", outbox: { directory } })).toThrow("ENOSPC");
    expect(readdirSync(directory)).toEqual([]);
  },
);

describe("events that neither the disk nor the service took before the client is closed", () => {
  test.each([
    ["are in the folder if it can be written again", true, { inFolder: 3, dropped: {} }],
    ["are dropped and told if it cannot", false, { inFolder: 1, dropped: { outbox_failed: 2 } }],
  ])("%s; before that they are not reported as synced", async (_, isMended, { inFolder, dropped }) => {
    using folder = temporaryFolder();
    const [directory, away] = [join(folder.path, "outbox"), join(folder.path, "away")];
    const lost: (string | undefined)[] = [];
    const drops: string[] = [];
    const client = createClient({
      url: NOWHERE,
      apiKey: "k",
      // The minimum: each of these events has its own file.
      outbox: { directory, bytesMax: 2 * EVENT_BYTES_MAX },
      onDropped: ({ eventId }) => lost.push(eventId),
      onProblem: ({ kind, message }) => kind === "dropped" && drops.push(message),
    });
    const capture = (event_id: string) =>
      client.capture(event({ event_id, metadata: { text: "x".repeat(EVENT_BYTES_MAX / 5) } })).kind;
    expect([capture("evt_1"), await client.synced()]).toEqual(["kept", { kind: "synced" }]);
    renameSync(directory, away);
    writeFileSync(directory, "no folder");
    expect([capture("evt_2"), capture("evt_3")]).toEqual(["kept", "kept"]);
    expect(await client.synced()).toEqual({
      kind: "failed",
      reason: expect.stringContaining("2 events are in memory only"),
    });
    if (isMended) {
      rmSync(directory);
      renameSync(away, directory);
    }
    expect(await client.close({ timeoutMs: 1 })).toMatchObject({ kind: "pending", events: inFolder });
    const left = isMended ? directory : away;
    const files = readdirSync(left).filter((name) => name.endsWith(".events"));
    const text = files.map((name) => readFileSync(join(left, name), "utf8")).join("");
    expect(text.match(/evt_\d/g)).toHaveLength(inFolder);
    expect(client.stats).toMatchObject({ dropped, pending: { events: inFolder } });
    expect(lost).toEqual(isMended ? [] : ["evt_2", "evt_3"]);
    expect(drops).toEqual(isMended ? [] : [expect.stringMatching(/^2 events dropped \(outbox_failed\)/)]);
  });
});

test("events in memory are sent even while the folder can be neither written nor read", async () => {
  using folder = temporaryFolder();
  const [directory, away] = [join(folder.path, "outbox"), join(folder.path, "away")];
  await withScriptedService(takeAll, async (service) => {
    const client = createClient({
      url: service.url,
      apiKey: "k",
      // The minimum: each of these events has its own file.
      outbox: { directory, bytesMax: 2 * EVENT_BYTES_MAX },
      batch: { intervalMs: 60_000 },
      onProblem: () => {},
    });
    const capture = (event_id: string) =>
      client.capture(event({ event_id, metadata: { text: "x".repeat(EVENT_BYTES_MAX / 5) } })).kind;
    expect(capture("evt_1")).toBe("kept");
    renameSync(directory, away);
    writeFileSync(directory, "no folder");
    expect([capture("evt_2"), capture("evt_3")]).toEqual(["kept", "kept"]);
    const flushed = await until("the others are sent, and the folder was read", async () => {
      const pending = await client.flush({ timeoutMs: 300 });
      return pending.kind === "pending" && pending.events === 1 && pending.reason !== undefined && pending;
    });
    expect(flushed.reason).toContain("cannot be read");
    expect(service.eventIds).toEqual(["evt_2", "evt_3"]);
    rmSync(directory);
    renameSync(away, directory);
    expect(await client.close()).toEqual({ kind: "flushed" });
    expect(service.eventIds).toEqual(["evt_2", "evt_3", "evt_1"]);
  });
});

test("an event is kept unchanged, even if a callback captures another one meanwhile", async () => {
  using folder = temporaryFolder();
  const files = (suffix: string) =>
    readdirSync(folder.path).flatMap((name) => (name.endsWith(suffix) ? join(folder.path, name) : []));
  const client = createClient({
    url: NOWHERE,
    apiKey: "k",
    outbox: { directory: folder.path },
    batch: { intervalMs: 60_000 },
    onProblem: ({ kind }) => {
      if (kind === "outbox") client.capture(event({ event_id: "evt_2" }));
    },
  });
  for (const path of files(".lease")) rmSync(path);
  // It was stopped for so long that it checks its lease first.
  const { now } = performance;
  performance.now = () => now.call(performance) + 60_000;
  try {
    expect(client.capture(event({ event_id: "evt_1", metadata: { text: "x".repeat(500) } })).kind).toBe(
      "kept",
    );
  } finally {
    performance.now = now;
  }
  const lines = files(".events").flatMap((path) => readFileSync(path, "utf8").split("\n").filter(Boolean));
  const ids = lines.map((line) => JSON.parse(line.slice(FRAME_BYTES - 1)).event_id);
  expect(ids.sort()).toEqual(["evt_1", "evt_2"]);
  await client.close({ timeoutMs: 1 });
});

test.if(await canMountDisk())(
  "the same holds if files were removed to make room on a full disk, and one of them cannot be written again",
  async () => {
    using folder = temporaryFolder();
    await using disk = await mountDisk(folder.path, 1);
    const directory = join(disk.root + folder.path, "outbox");
    await withScriptedService(
      () => "hang",
      async (service) => {
        const lost: string[] = [];
        const client = createClient({
          url: service.url,
          apiKey: "k",
          // The minimum: each of these events has its own file.
          outbox: { directory, bytesMax: 2 * EVENT_BYTES_MAX, sync: "never" },
          batch: { intervalMs: 60_000 },
          requestTimeoutMs: 300,
          onDropped: ({ reason }) => {
            lost.push(reason);
            capture("evt_3", 10);
          },
          onProblem: () => {},
        });
        const capture = (event_id: string, characters: number) =>
          client.capture(event({ event_id, metadata: { text: "x".repeat(characters) } })).kind;
        expect(capture("evt_1", EVENT_BYTES_MAX / 5)).toBe("kept");
        await fill(join(disk.root + folder.path, "ballast"));
        for (const name of readdirSync(directory))
          if (name.endsWith(".events")) rmSync(join(directory, name));
        expect(capture("evt_2", EVENT_BYTES_MAX / 5)).toBe("kept");
        expect(lost).toEqual(["outbox_damaged"]);
        service.script = takeAll;
        expect(await client.close()).toEqual({ kind: "flushed" });
        expect(new Set(service.eventIds)).toEqual(new Set(["evt_1", "evt_2", "evt_3"]));
      },
    );
  },
);

test("an event that was sent from memory without an answer, and is written to the folder at the end, keeps the time of that attempt for the next client", async () => {
  using folder = temporaryFolder();
  const [directory, away] = [join(folder.path, "outbox"), join(folder.path, "away")];
  const { now } = Date;
  await withScriptedService(
    () => "cut",
    async (service) => {
      const open = (apiKey: string) =>
        createClient({
          url: service.url,
          apiKey,
          // The minimum: each of these events has its own file.
          outbox: { directory, bytesMax: 2 * EVENT_BYTES_MAX },
          batch: { intervalMs: 5 },
          onProblem: () => {},
        });
      const client = open("first");
      const metadata = { text: "x".repeat(EVENT_BYTES_MAX / 5) };
      client.capture(event({ event_id: "evt_1", metadata }));
      renameSync(directory, away);
      writeFileSync(directory, "no folder");
      client.capture(event({ event_id: "evt_2", metadata }));
      await until("it was sent from memory", () => service.eventIds.includes("evt_2"));
      rmSync(directory);
      renameSync(away, directory);
      try {
        // By now the broker may have forgotten it.
        Date.now = () => now() + 2 * RESENT_AFTER_MS;
        await client.close({ timeoutMs: 1 });
        service.script = takeAll;
        const next = open("next");
        await until("it is delivered", () => next.stats.delivered === 2);
        // A request that the first client had begun may be read only now.
        const asked = service.asked.filter(({ headers }) => headers.authorization === "Bearer next");
        const paths = asked.map(({ path }) => path);
        expect(new Set(paths)).toEqual(new Set(["/v1/events/batch?resent=true"]));
        await next.close();
      } finally {
        Date.now = now;
      }
    },
  );
});

test("a folder with a relative path stays where it was when the client was made", async () => {
  using folder = temporaryFolder();
  const [home, elsewhere] = [process.cwd(), join(folder.path, "elsewhere")];
  mkdirSync(elsewhere);
  try {
    process.chdir(folder.path);
    const client = createClient({
      url: NOWHERE,
      apiKey: "k",
      // The minimum: each of these events has its own file.
      outbox: { directory: "outbox", bytesMax: 2 * EVENT_BYTES_MAX },
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
  const files = readdirSync(join(folder.path, "outbox"));
  expect(files.filter((name) => name.endsWith(".events"))).toHaveLength(2);
  // Its lease was found and given back.
  expect(files.filter((name) => name.endsWith(".lease"))).toEqual([]);
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

test("an outbox keeps no data about the files that it removed, however many they were", async () => {
  using folder = temporaryFolder();
  const entry = new TextEncoder().encode("{}");
  const outbox = createFileOutbox({
    directory: folder.path,
    // A file may have an eighth of this: each entry has its own file.
    bytesMax: 8 * (entry.length + FRAME_BYTES),
    sync: "never",
    adoptIntervalMs: 60_000,
    onUnreadable: () => expect.unreachable("nothing is damaged"),
    onLost: () => expect.unreachable("nothing is lost"),
    onFailure: (reason) => expect.unreachable(reason),
  });
  const deliver = async (files: number): Promise<void> => {
    for (let file = 0; file < files; file++) {
      outbox.append(entry);
      const taken = await outbox.take({ events: 1, bytes: 999 });
      taken?.settle([0]);
    }
  };
  const objects = (): number => {
    Bun.gc(true);
    const { Array: lists = 0, Promise: promises = 0 } = heapStats().objectTypeCounts;
    return lists + promises;
  };
  await deliver(50);
  const before = objects();
  await deliver(1000);
  expect(objects() - before).toBeLessThan(500);
  expect(outbox.pending).toEqual({ events: 0, bytes: 0 });
  await outbox.close();
});

test("damaged bytes of the outbox that cannot be kept among the dead letters are reported", async () => {
  using folder = temporaryFolder();
  // In the place of the file of dead letters.
  mkdirSync(join(folder.path, "dead-letters.ndjson"));
  await withScriptedService(takeAll, async (service) => {
    const [dropped, problems]: [string[], string[]] = [[], []];
    const client = createClient({
      url: service.url,
      apiKey: "k",
      outbox: { directory: folder.path },
      batch: { intervalMs: 60_000 },
      onDropped: ({ reason }) => dropped.push(reason),
      onProblem: ({ kind, message }) => problems.push(`${kind}: ${message}`),
    });
    for (const event_id of ["evt_1", "evt_2"]) expect(client.capture(event({ event_id })).kind).toBe("kept");
    for (const name of readdirSync(folder.path).filter((each) => each.endsWith(".events"))) {
      const path = join(folder.path, name);
      writeFileSync(path, readFileSync(path, "utf8").replace("evt_1", "evt_x"));
    }
    expect(await client.flush()).toEqual({ kind: "flushed" });
    await until("it is told", () => problems.some((told) => told.startsWith("outbox: ")));
    expect([dropped, service.eventIds]).toEqual([["outbox_damaged"], ["evt_2"]]);
    expect(problems).toEqual([
      expect.stringMatching(/^dropped: .*outbox_damaged/),
      expect.stringMatching(/^outbox: Bytes of the outbox that cannot be read cannot be kept either: /),
    ]);
    await client.close();
  });
});
