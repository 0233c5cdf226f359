/** A waiting entry is delivered in its turn, whatever happens meanwhile; a settled entry never comes again. Both outboxes, any sequence of steps. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rmdir,
  stat,
  truncate,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { type Client, createClient, type Flushed } from "prooftrail-sdk";
import { crc32, crc32ByTable } from "../../../src/sdk/crc32.ts";
import { createDeadLetterFile, type DeadLetters, noDeadLetters } from "../../../src/sdk/dead-letters.ts";
import { createFileOutbox, type SyncPolicy } from "../../../src/sdk/file-outbox.ts";
import { FileSync } from "../../../src/sdk/file-sync.ts";
import { FRAME_BYTES, writeFrame } from "../../../src/sdk/frame.ts";
import { isMissing } from "../../../src/sdk/is-missing.ts";
import { isAbandoned, Lease } from "../../../src/sdk/lease.ts";
import { LEASE_STALE_MS, RESENT_AFTER_MS } from "../../../src/sdk/limits.ts";
import { createMemoryOutbox } from "../../../src/sdk/memory-outbox.ts";
import type { Outbox, Synced, Taken } from "../../../src/sdk/outbox.ts";
import { createReports } from "../../../src/sdk/reports.ts";
import { Segment } from "../../../src/sdk/segment.ts";
import { SegmentList } from "../../../src/sdk/segment-list.ts";
import { createSender } from "../../../src/sdk/sender.ts";
import { uuid7 } from "../../../src/sdk/uuid.ts";
import { until } from "../../support/until.ts";
import { event, NOWHERE } from "./events.ts";
import { withFolder } from "./folder.ts";
import { takeAll, withScriptedService } from "./scripted-service.ts";

const BYTES_MAX = 64 * 1024;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const entry = (number: number, size: number): Uint8Array => encoder.encode(`${number} ${"x".repeat(size)}`);
const numberIn = (bytes: Uint8Array): number => Number.parseInt(decoder.decode(bytes), 10);

const openFile = (
  directory: string,
  failures: string[] = [],
  adoptIntervalMs = 60_000,
  sync: SyncPolicy = "never",
) =>
  createFileOutbox({
    directory,
    adoptIntervalMs,
    bytesMax: BYTES_MAX,
    sync,
    onUnreadable: (bytes) => failures.push(`unreadable ${bytes.length}`),
    onLost: (events, reason) => failures.push(`lost ${events}: ${reason}`),
    onFailure: (reason) => failures.push(reason),
  });

/** As if their process had died: no living process has such a lease. */
const killHolders = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    if (!name.endsWith(".lease")) continue;
    try {
      const text = await readFile(join(directory, name), "utf8");
      const lease = JSON.stringify({ ...JSON.parse(text), started: "0" });
      // An outbox that is dropped meanwhile is not created anew.
      await writeFile(join(directory, name), lease.padEnd(text.length), { flag: "r+" });
    } catch (error) {
      assert.match(String(error), /ENOENT/);
    }
  }
};

/** Waits until an outbox has checked all that others left, so that it takes nothing over after its death: asked for too much, it returns only then. */
const hasLooked = (outbox: Outbox): Promise<unknown> =>
  outbox.take({ events: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER });

type Step =
  | { readonly kind: "append"; readonly size: number }
  | {
      readonly kind: "take";
      readonly events: number;
      readonly bytes: number;
      readonly settle: readonly boolean[];
    }
  | { readonly kind: "sync"; readonly isAwaited: boolean }
  | { readonly kind: "close" }
  | { readonly kind: "die" };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant("append" as const), size: fc.integer({ min: 0, max: 4000 }) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("take" as const),
        events: fc.integer({ min: 1, max: 20 }),
        bytes: fc.integer({ min: 1, max: 20_000 }),
        settle: fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("sync" as const), isAwaited: fc.boolean() }) },
    { weight: 1, arbitrary: fc.constant({ kind: "close" as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: "die" as const }) },
  ),
  { maxLength: 60 },
);

const checkTaken = (parts: {
  settled: ReadonlySet<number>;
  sizes: ReadonlyMap<number, number>;
  bytes: Uint8Array;
}): number => {
  const number = numberIn(parts.bytes);
  assert.ok(!parts.settled.has(number), `entry ${number} has its outcome and came again`);
  assert.equal(decoder.decode(parts.bytes), decoder.decode(entry(number, parts.sizes.get(number) ?? -1)));
  return number;
};

/** Takes the steps, then delivers what is left: every kept entry has come out, unchanged. */
const walk = async (
  open: () => Outbox,
  all: readonly Step[],
  die: (() => Promise<void>) | undefined,
): Promise<void> => {
  let outbox = open();
  // Memory ends with its process: it never reports an entry as synced.
  const syncedKind = die ? "synced" : "failed";
  const dead: Outbox[] = [];
  const syncs: Promise<Synced>[] = [];
  const sizes = new Map<number, number>();
  const delivered = new Set<number>();
  /** Of this life: the entries, and the marks that tell when all entries up to there, of earlier lives too, are settled. */
  let own: number[] = [];
  let marks: { readonly isSettled: () => boolean; readonly before: readonly number[] }[] = [];
  /** Of this life: entries that a killed process had settled but not written down may come again. */
  let settled = new Set<number>();
  const settleSome = async (step: Extract<Step, { kind: "take" }>): Promise<boolean> => {
    const taken = await outbox.take(step);
    if (!taken) return false;
    const numbers = taken.entries.map((bytes) => checkTaken({ settled, sizes, bytes }));
    assert.ok(numbers.length >= 1 && numbers.length <= step.events);
    const mine = numbers.filter((number) => own.includes(number));
    assert.deepEqual(
      mine,
      mine.toSorted((a, b) => a - b),
    );
    const chosen = numbers.flatMap((_, position) => (step.settle[position] ? position : []));
    taken.settle(chosen);
    for (const position of chosen) {
      settled.add(numbers[position] ?? -1);
      delivered.add(numbers[position] ?? -1);
    }
    return true;
  };
  for (const step of all) {
    if (step.kind === "append") {
      const number = sizes.size;
      const appended = outbox.append(entry(number, step.size));
      assert.notEqual(appended.kind, "failed");
      if (appended.kind === "kept") {
        sizes.set(number, step.size);
        own.push(number);
      }
      marks.push({ isSettled: outbox.mark(), before: [...sizes.keys()] });
    } else if (step.kind === "take") {
      await settleSome(step);
      await hasLooked(outbox);
      for (const { isSettled, before } of marks) {
        if (before.some((number) => !delivered.has(number))) assert.equal(isSettled(), false);
        else if (before.every((number) => settled.has(number))) assert.equal(isSettled(), true);
      }
    } else if (step.kind === "sync") {
      const synced = outbox.sync();
      // More events arrive during the sync.
      syncs.push(synced);
      if (step.isAwaited) assert.equal((await synced).kind, syncedKind);
    } else if (step.kind === "close" && die) {
      await outbox.close();
      outbox = open();
      [own, marks] = [[], []];
    } else if (die) {
      dead.push(outbox);
      await hasLooked(outbox);
      await die();
      outbox = open();
      settled = new Set();
      [own, marks] = [[], []];
    }
  }
  const everything = { kind: "take", events: 20, bytes: 20_000, settle: Array(20).fill(true) } as const;
  while (await settleSome(everything));
  assert.deepEqual(
    [...delivered].sort((a, b) => a - b),
    [...sizes.keys()],
  );
  assert.deepEqual(outbox.pending, { events: 0, bytes: 0 });
  assert.ok(outbox.mark()());
  for (const { kind } of await Promise.all(syncs)) assert.equal(kind, syncedKind);
  await outbox.close();
  // They were not dead after all: others had their entries.
  for (const other of dead) await other.close();
  outbox = open();
  settled = new Set();
  while (await settleSome(everything));
  assert.equal(delivered.size, sizes.size);
  await outbox.close();
};

test("every entry of a memory outbox is taken until it is settled, and then never again", () =>
  fc.assert(
    fc.asyncProperty(steps, (all) => walk(() => createMemoryOutbox({ bytesMax: BYTES_MAX }), all, undefined)),
    { numRuns: 100 },
  ));

test("every entry of a folder is taken until it is settled, even if processes die meanwhile", () =>
  fc.assert(
    fc.asyncProperty(steps, (all) =>
      withFolder(async (directory) => {
        const failures: string[] = [];
        await walk(
          () => openFile(directory, failures),
          all,
          () => killHolders(directory),
        );
        assert.deepEqual(failures, []);
        assert.deepEqual(await readdir(directory), []);
      }),
    ),
    { numRuns: 40 },
  ));

test("two clients share a folder, and each delivers its own events", () =>
  withFolder(async (directory) => {
    const [first, second] = [openFile(directory), openFile(directory)];
    first.append(entry(1, 0));
    second.append(entry(2, 0));
    const [one, two] = [
      await first.take({ events: 9, bytes: 999 }),
      await second.take({ events: 9, bytes: 999 }),
    ];
    assert.deepEqual(
      [one, two].map((taken) => taken?.entries.map(numberIn)),
      [[1], [2]],
    );
    await first.close();
    await second.close();
  }));

test("exactly one of two clients takes over the events of a dead client", () =>
  withFolder(async (directory) => {
    const dead = openFile(directory);
    for (let number = 0; number < 40; number++) dead.append(entry(number, 1000));
    await killHolders(directory);
    const heirs = [openFile(directory), openFile(directory)];
    const found: number[] = [];
    for (const heir of heirs) {
      for (
        let taken = await heir.take({ events: 7, bytes: 9999 });
        taken;
        taken = await heir.take({ events: 7, bytes: 9999 })
      ) {
        found.push(...taken.entries.map(numberIn));
        taken.settle(taken.entries.map((_, position) => position));
      }
    }
    assert.deepEqual(
      found.sort((a, b) => a - b),
      Array.from({ length: 40 }, (_, number) => number),
    );
    for (const outbox of [...heirs, dead]) await outbox.close();
  }));

test("events are taken in the order of their capture, even if they came during the sync of a file", () =>
  withFolder(async (directory) => {
    const outbox = openFile(directory);
    let appended = 0;
    const append = () => assert.equal(outbox.append(entry(appended++, 200)).kind, "kept");
    const syncs: Promise<Synced>[] = [];
    for (let round = 0; round < 12; round++) {
      append();
      const syncing = outbox.sync();
      syncs.push(syncing);
      // The file being synced is not written to.
      append();
      append();
      if (round % 3 === 0) await syncing;
    }
    const files = (await readdir(directory)).filter((name) => name.endsWith(".events"));
    assert.ok(files.length > 1);
    const taking = outbox.take({ events: 20, bytes: 99_999 });
    for (let turn = 0; turn < 10; turn++) {
      append();
      syncs.push(outbox.sync());
      await setImmediate();
    }
    const taken = await taking;
    const first = taken?.entries.map(numberIn) ?? [];
    taken?.settle([...first.keys()]);
    assert.deepEqual(
      [...first, ...(await drain(outbox))],
      Array.from({ length: appended }, (_, number) => number),
    );
    for (const { kind } of await Promise.all(syncs)) assert.equal(kind, "synced");
    await outbox.close();
    assert.deepEqual(await readdir(directory), []);
  }));

test("the events of many dead clients are taken in one batch, within the limits, and each has its own outcome", () =>
  withFolder(async (directory) => {
    const dead = Array.from({ length: 5 }, () => openFile(directory));
    for (const [number, outbox] of dead.entries())
      for (const part of [0, 1]) outbox.append(entry(10 * number + part, 10));
    await Promise.all(dead.map(hasLooked));
    await killHolders(directory);
    const heir = openFile(directory);
    const first = await heir.take({ events: 7, bytes: 999 });
    assert.equal(first?.entries.length, 7);
    const [kept, later] = [first?.entries.map(numberIn)[2], first?.entries.map(numberIn)[5]];
    first?.postpone([5], { dueMs: performance.now() + 60_000, isFirm: true });
    first?.settle([0, 1, 3, 4, 6]);
    const second = await heir.take({ events: 9, bytes: 35 });
    assert.deepEqual([second?.entries.length, second?.entries.map(numberIn)[0]], [2, kept]);
    second?.settle([0, 1]);
    const third = await heir.take({ events: 9, bytes: 999 });
    assert.equal(third?.entries.length, 2);
    third?.settle([0, 1]);
    assert.equal(await heir.take({ events: 9, bytes: 999 }), undefined);
    const { events } = heir.pending;
    assert.equal(events, 1);
    await heir.close();
    const next = openFile(directory);
    assert.deepEqual(await drain(next), [later]);
    for (const outbox of [next, ...dead]) await outbox.close();
  }));

/** Each entry in its own file of its own client, as very many short-lived programs leave them. Returns the file names. */
const leaveEach = async (directory: string, numbers: readonly number[]): Promise<readonly string[]> => {
  for (const number of numbers) {
    const bytes = entry(number, 0);
    const frame = new Uint8Array(bytes.length + FRAME_BYTES);
    writeFrame(bytes, frame);
    await writeFile(join(directory, `${uuid7(number)}.${uuid7(number)}.events`), frame);
  }
  return await readdir(directory);
};

test("a batch of events from very many dead clients is returned before all of them are taken over, the oldest first", () =>
  withFolder(async (directory) => {
    const numbers = [...Array(100).keys()];
    const left = await leaveEach(directory, numbers);
    const heir = openFile(directory);
    const taken = await heir.take({ events: 3, bytes: 999 });
    const untouched = (await readdir(directory)).filter((name) => left.includes(name));
    assert.deepEqual(taken?.entries.map(numberIn), [0, 1, 2]);
    assert.ok(untouched.length > 0, "all of it was taken over first");
    taken?.settle([0, 1, 2]);
    assert.deepEqual(await drain(heir), numbers.slice(3));
    await heir.close();
  }));

test("a client that is closed while it takes over from very many dead clients does not finish that first, and the next client has everything", () =>
  withFolder(async (directory) => {
    const numbers = [...Array(300).keys()];
    const left = await leaveEach(directory, numbers);
    const batch = { events: 10 };
    const client = createClient({
      url: NOWHERE,
      apiKey: "k",
      outbox: { directory },
      batch,
      onProblem: () => {},
    });
    await client.close({ timeoutMs: 0 });
    const untouched = (await readdir(directory)).filter((name) => left.includes(name));
    assert.ok(untouched.length > 0, "all of it was taken over first");
    const next = openFile(directory);
    assert.deepEqual(
      (await drain(next)).sort((one, other) => one - other),
      numbers,
    );
    await next.close();
  }));

test("the events that a closed client had taken over are still taken before the newer ones that it left untouched", () =>
  withFolder(async (directory) => {
    const numbers = [...Array(100).keys()];
    const left = await leaveEach(directory, numbers);
    const heir = openFile(directory);
    await heir.take({ events: 3, bytes: 999 });
    await heir.close();
    const untouched = (await readdir(directory)).filter((name) => left.includes(name));
    assert.ok(untouched.length > 0, "all of it was taken over first");
    const next = openFile(directory);
    assert.deepEqual(await drain(next), numbers);
    await next.close();
  }));

test("of the events of several dead clients, those of the client that started first are taken first", () =>
  withFolder(async (directory) => {
    const dead: Outbox[] = [];
    for (const number of Array(8).keys()) {
      dead.push(openFile(directory));
      dead.at(-1)?.append(entry(number, 0));
      const madeMs = Date.now();
      await until("its files are older than the next ones", () => Date.now() > madeMs + 1);
    }
    await Promise.all(dead.map(hasLooked));
    await killHolders(directory);
    const heir = openFile(directory);
    assert.deepEqual(await drain(heir), [...Array(8).keys()]);
    for (const outbox of [heir, ...dead]) await outbox.close();
  }));

test("events that may have been sent too long ago are taken separately from the others, which are not looked up in the log", () =>
  withFolder(async (directory) => {
    const dead = openFile(directory);
    dead.append(entry(1, 0));
    await killHolders(directory);
    await ahead(2 * RESENT_AFTER_MS, async () => {
      const heir = openFile(directory);
      heir.append(entry(2, 0));
      const old = await heir.take({ events: 9, bytes: 999 });
      assert.deepEqual([old?.mayBeResent, old?.entries.map(numberIn)], [true, [1]]);
      old?.settle([0]);
      const next = await heir.take({ events: 9, bytes: 999 });
      assert.deepEqual([next?.mayBeResent, next?.entries.map(numberIn)], [false, [2]]);
      await heir.close();
    });
    await dead.close();
  }));

test("the events of a dead client are sent by a running client that captures nothing itself", () =>
  withFolder(async (directory) => {
    const [dead, heir] = [openFile(directory), openFile(directory, [], 5)];
    dead.append(entry(1, 0));
    heir.append(entry(2, 0));
    const sent: number[] = [];
    const sender = createSender({
      outboxes: [heir],
      deliver: async ({ events }) => {
        sent.push(...events.map(numberIn));
        return {
          kind: "answered",
          outcomes: events.map(() => ({ kind: "stored" })),
          duplicates: 0,
          warnings: [],
        };
      },
      deadLetters: noDeadLetters,
      reports: createReports({}),
      limits: { events: 9, bytes: 999 },
      flushIntervalMs: 600_000,
      random: Math.random,
    });
    assert.deepEqual([(await sender.flush(5000)).kind, sent], ["flushed", [2]]);
    await killHolders(directory);
    await until("it is sent", () => sent.length === 2);
    assert.deepEqual(sent, [2, 1]);
    await sender.stop();
    for (const outbox of [heir, dead]) await outbox.close();
  }));

test("flush and close count what an earlier run left, and deliver it", () =>
  withFolder((directory) =>
    withScriptedService(
      () => "hang",
      async (service) => {
        const open = (): Client =>
          createClient({ url: service.url, apiKey: "k", outbox: { directory }, onProblem: () => {} });
        const earlier = open();
        for (const event_id of ["evt_1", "evt_2"]) earlier.capture(event({ event_id }));
        assert.deepEqual(kindAndEvents(await earlier.close({ timeoutMs: 1 })), ["pending", 2]);
        const next = open();
        next.capture(event({ event_id: "evt_3" }));
        await until("it is found", () => next.stats.pending.events === 3);
        assert.deepEqual(kindAndEvents(await next.flush({ timeoutMs: 1 })), ["pending", 3]);
        assert.deepEqual(kindAndEvents(await next.close({ timeoutMs: 1 })), ["pending", 3]);
        // These two capture nothing themselves.
        const third = open();
        await until("it is found", () => third.stats.pending.events === 3);
        assert.deepEqual(kindAndEvents(await third.flush({ timeoutMs: 1 })), ["pending", 3]);
        assert.deepEqual(kindAndEvents(await third.close({ timeoutMs: 1 })), ["pending", 3]);
        const answered: unknown[] = [];
        service.script = (asked) => {
          answered.push(...asked.events.map(({ event_id }) => event_id));
          return takeAll(asked);
        };
        const last = open();
        assert.deepEqual(await last.flush(), { kind: "flushed" });
        assert.deepEqual(answered, ["evt_1", "evt_2", "evt_3"]);
        assert.deepEqual(await last.close(), { kind: "flushed" });
      },
    ),
  ));

const kindAndEvents = (flushed: Flushed) => [flushed.kind, flushed.kind === "pending" ? flushed.events : 0];

test("a client whose lease was taken goes on under a new name, and loses nothing", () =>
  withFolder(async (directory) => {
    const failures: string[] = [];
    const stopped = openFile(directory, failures);
    stopped.append(entry(1, 0));
    await killHolders(directory);
    const heir = openFile(directory);
    const taken = await heir.take({ events: 9, bytes: 999 });
    assert.deepEqual(taken?.entries.map(numberIn), [1]);
    taken?.settle([0]);
    // It wakes up after a lease has run out.
    const { now } = performance;
    performance.now = () => now.call(performance) + 120_000;
    try {
      assert.equal(stopped.append(entry(2, 0)).kind, "kept");
    } finally {
      performance.now = now;
    }
    assert.match(failures.join(), /takes it for dead/);
    const own = await stopped.take({ events: 9, bytes: 999 });
    assert.deepEqual(own?.entries.map(numberIn), [2]);
    own?.settle([0]);
    assert.ok(stopped.mark()());
    await stopped.close();
    await heir.close();
  }));

/** Both clocks are so far ahead that a lease is late. */
const late = (use: () => void): Promise<void> => ahead(120_000, async () => use());

const drain = async (outbox: Outbox): Promise<number[]> => {
  const found: number[] = [];
  for (;;) {
    const taken = await outbox.take({ events: 5, bytes: 9999 });
    if (!taken) return found;
    found.push(...taken.entries.map(numberIn));
    taken.settle([...taken.entries.keys()]);
  }
};

test("an event written to a file while another client takes it over and removes it is kept, by whichever of the two can see it", () =>
  withFolder(async (directory) => {
    const failures: string[] = [];
    const holder = openFile(directory, failures);
    holder.append(entry(1, 0));
    await killHolders(directory);
    const heir = openFile(directory, failures);
    const taken = await heir.take({ events: 9, bytes: 999 });
    assert.equal(holder.append(entry(2, 0)).kind, "kept");
    const areDelivered = holder.mark();
    taken?.settle([0]);
    await until("the second has come", () => heir.pending.events === 1);
    assert.equal(holder.append(entry(3, 0)).kind, "kept");
    const second = await heir.take({ events: 9, bytes: 999 });
    assert.deepEqual(second?.entries.map(numberIn), [2]);
    assert.equal(areDelivered(), false);
    second?.settle([0]);
    // Without the lease it searches for entries that no other client can have: these may have been sent before.
    await late(() => assert.equal(holder.append(entry(4, 0)).kind, "kept"));
    assert.deepEqual((await drain(holder)).sort(), [1, 2, 3, 4]);
    assert.ok(areDelivered());
    assert.match(failures.join(), /^The lease of this process is gone.*emptied\.$/);
    await holder.close();
    await heir.close();
    assert.deepEqual(await readdir(directory), []);
  }));

test("an event that is written again during a search for it is delivered, and is not reported as lost", () =>
  withFolder(async (directory) => {
    const failures: string[] = [];
    const holder = openFile(directory, failures);
    holder.append(entry(1, 0));
    await killHolders(directory);
    const heir = openFile(directory);
    assert.deepEqual(await drain(heir), [1]);
    const files = async () => (await readdir(directory)).filter((name) => name.endsWith(".events"));
    await until("only the heir's own file is there", async () => (await files()).length === 1);
    const taking = holder.take({ events: 9, bytes: 999 });
    // It searches for its file, which is gone, and learns that in another turn of the loop.
    for (let step = 0; step < 50; step++) await null;
    await late(() => assert.equal(holder.append(entry(2, 0)).kind, "kept"));
    const found = (await taking)?.entries.map(numberIn);
    assert.deepEqual([found, failures.filter((told) => told.startsWith("lost"))], [[1], []]);
    await holder.close();
    await heir.close();
  }));

test("an event that a client takes over while it is taken for dead itself is delivered, and is not reported as lost", () =>
  withFolder(async (directory) => {
    const failures: string[] = [];
    const dead = openFile(directory);
    dead.append(entry(1, 0));
    await killHolders(directory);
    const heir = openFile(directory, failures, 5);
    const { read } = Segment;
    const isRobbed = new Promise<string>((told) => {
      Segment.read = async (path, id) => {
        Segment.read = read;
        const segment = await read(path, id);
        for (const name of readdirSync(directory))
          if (name.endsWith(".lease")) unlinkSync(join(directory, name));
        await late(() => heir.append(entry(2, 0)));
        told(path);
        return segment;
      };
    });
    const path = await isRobbed;
    await until("it has found that again", async () => {
      const names = await readdir(directory);
      return !names.includes(`${basename(path)}.events`);
    });
    assert.deepEqual((await drain(heir)).sort(), [1, 2]);
    assert.deepEqual(
      failures.filter((told) => told.startsWith("lost")),
      [],
    );
    await heir.close();
    await dead.close();
  }));

test("no kept event is lost if a living client is taken for dead at any time, and none is reported as delivered too early", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          { weight: 4, arbitrary: fc.constant("append" as const) },
          {
            weight: 6,
            arbitrary: fc.constantFrom(
              ...(["rob", "heir takes", "heir settles", "holder takes", "holder is late", "wait"] as const),
            ),
          },
        ),
        { maxLength: 40 },
      ),
      (steps) =>
        withFolder(async (directory) => {
          const failures: string[] = [];
          const holder = openFile(directory, failures);
          const delivered = new Set<number>();
          const marks: {
            readonly isSettled: () => boolean;
            readonly from: number;
            readonly before: number;
          }[] = [];
          const heirs: Outbox[] = [];
          const inHand: Taken[] = [];
          let appended = 0;
          /** Entries before this one may be with an heir, which was reported: a later mark does not cover them. */
          let told = 0;
          for (const step of steps) {
            const [failed, first] = [failures.length, appended];
            if (step === "append") {
              assert.equal(holder.append(entry(appended, 3000)).kind, "kept");
              appended++;
              marks.push({ isSettled: holder.mark(), from: told, before: appended });
            } else if (step === "rob") {
              await killHolders(directory);
              heirs.push(openFile(directory));
            } else if (step === "heir takes") {
              const taken = await heirs.at(-1)?.take({ events: 3, bytes: 9999 });
              if (taken) inHand.push(taken);
            } else if (step === "heir settles") {
              for (const taken of inHand.splice(0)) {
                for (const bytes of taken.entries) delivered.add(numberIn(bytes));
                taken.settle([...taken.entries.keys()]);
              }
            } else if (step === "holder takes") {
              for (const number of await drain(holder)) delivered.add(number);
            } else if (step === "holder is late") {
              await late(() => holder.append(entry(appended++, 3000)));
            } else for (let turn = 0; turn < 5; turn++) await setImmediate();
            if (failures.length > failed) told = first;
            for (const { isSettled, from, before } of marks)
              for (let number = from; number < before && isSettled(); number++)
                assert.ok(delivered.has(number), `entry ${number} of ${from} to ${before} is called settled`);
          }
          for (const outbox of [...heirs, holder]) await outbox.close();
          const last = openFile(directory);
          for (const number of await drain(last)) delivered.add(number);
          await last.close();
          assert.deepEqual(
            [...delivered].sort((a, b) => a - b),
            Array.from({ length: appended }, (_, number) => number),
          );
          assert.deepEqual(await readdir(directory), []);
        }),
    ),
    { numRuns: 60 },
  ));

test("a file that cannot be synced is reported", async () => {
  // A device has nothing to sync: Linux refuses the sync, and only a client that checks can see it.
  const fd = openSync("/dev/null", "w");
  const files = new FileSync("/dev", () => {});
  const told: string[] = [];
  files.written({ fd, path: "/dev/null", isSettled: false, onUnsynced: (reason) => told.push(reason) });
  const synced = await files.sync();
  assert.ok(synced.kind === "failed" && /invalid/i.test(synced.reason), JSON.stringify(synced));
  assert.deepEqual(told, [synced.reason]);
  closeSync(fd);
});

test("no other user of the machine can read waiting events", () =>
  withFolder(async (parent) => {
    const directory = join(parent, "outbox");
    const outbox = openFile(directory);
    outbox.append(entry(1, 0));
    (await outbox.take({ events: 1, bytes: 999 }))?.settle([]);
    const modes = [directory, ...(await readdir(directory)).map((name) => join(directory, name))].map(
      async (path) => (await stat(path)).mode & 0o777,
    );
    assert.deepEqual([...new Set(await Promise.all(modes))].sort(), [0o600, 0o700]);
    await outbox.close();
  }));

/** Replaces the file of this entry by something that cannot be read as a file but can be renamed, until it is restored. */
const makeUnreadable = async (directory: string, number: number): Promise<() => Promise<void>> => {
  for (const name of await readdir(directory)) {
    if (!name.endsWith(".events")) continue;
    const path = join(directory, name);
    if (numberIn((await readFile(path)).subarray(FRAME_BYTES - 1)) !== number) continue;
    await rename(path, `${path}.away`);
    await mkdir(path);
    return async () => {
      await rmdir(path);
      await rename(`${path}.away`, path);
    };
  }
  throw new Error(`entry ${number} is in no file`);
};

for (const number of [0, 2, 4])
  test(`a dead client's file that cannot be read delays none of the others, and is taken over once it can be read (${number})`, () =>
    withFolder(async (directory) => {
      const failures: string[] = [];
      const dead = [0, 2, 4].map(() => openFile(directory));
      for (const [at, outbox] of dead.entries()) {
        for (const part of [0, 1]) outbox.append(entry(2 * at + part, 0));
        (await outbox.take({ events: 1, bytes: 999 }))?.settle([0]);
      }
      await killHolders(directory);
      const mend = await makeUnreadable(directory, number);
      const heir = openFile(directory, failures);
      const others = [1, 3, 5].filter((other) => other !== number + 1);
      assert.deepEqual((await drain(heir)).sort(), others);
      assert.match(failures.join(), /^What other processes left in the outbox cannot be taken over: EISDIR/);
      await mend();
      const next = openFile(directory);
      assert.deepEqual(await drain(next), [number + 1]);
      for (const outbox of [heir, next, ...dead]) await outbox.close();
    }));

test("an own file that cannot be read delays no other, and is reported when nothing else is due", () =>
  withFolder(async (directory) => {
    const outbox = openFile(directory);
    // A file may have an eighth of the limit.
    for (let number = 0; number < 3; number++) outbox.append(entry(number, BYTES_MAX / 8));
    const mend = await makeUnreadable(directory, 1);
    for (const expected of [0, 2]) {
      const taken = await outbox.take({ events: 9, bytes: 999 });
      assert.deepEqual(taken?.entries.map(numberIn), [expected]);
      taken?.settle([0]);
    }
    await assert.rejects(outbox.take({ events: 9, bytes: 999 }), /EISDIR/);
    await mend();
    assert.deepEqual(await drain(outbox), [1]);
    await outbox.close();
  }));

test("postponed entries of any client are not read while they wait: otherwise each of very many would be read with every request", () =>
  withFolder(async (directory) => {
    const dead = openFile(directory);
    dead.append(entry(0, 0));
    await killHolders(directory);
    const outbox = openFile(directory);
    for (const number of [1, 2]) outbox.append(entry(number, 0));
    const taken = await outbox.take({ events: 9, bytes: 999 });
    assert.deepEqual(taken?.entries.map(numberIn), [0, 1, 2]);
    taken?.settle([1]);
    taken?.postpone([0, 2], { dueMs: performance.now() + 60_000, isFirm: false });
    for (const first of [0, 1]) {
      const mend = await makeUnreadable(directory, first);
      assert.equal(await outbox.take({ events: 9, bytes: 999 }), undefined);
      await mend();
    }
    outbox.hasten();
    assert.deepEqual(await drain(outbox), [0, 2]);
    for (const each of [outbox, dead]) await each.close();
  }));

test("a damaged entry loses only itself, and is reported", () =>
  withFolder(async (directory) => {
    const dead = openFile(directory);
    for (let number = 0; number < 5; number++) dead.append(entry(number, 20));
    const [file = ""] = (await readdir(directory)).filter((name) => name.endsWith(".events"));
    const bytes = await readFile(join(directory, file));
    const frame = bytes.length / 5;
    bytes[2 * frame + 15] = (bytes[2 * frame + 15] ?? 0) ^ 1;
    // The last one was being written when the power failed.
    await writeFile(join(directory, file), bytes.subarray(0, -3));
    await killHolders(directory);
    const failures: string[] = [];
    const heir = openFile(directory, failures);
    const taken = await heir.take({ events: 9, bytes: 9999 });
    assert.deepEqual(taken?.entries.map(numberIn), [0, 1, 3]);
    assert.deepEqual(failures, [`unreadable ${frame}`, `unreadable ${frame - 3}`]);
    taken?.settle([0, 1, 2]);
    assert.deepEqual(heir.pending, { events: 0, bytes: 0 });
    await heir.close();
    await dead.close();
  }));

for (const [how, bytesLeft, whole] of [
  ["to nothing", 0, 0],
  ["inside an entry", 1.5, 1],
] as const)
  test(`if somebody has cut a file ${how}, the missing entries are reported, and the outbox goes on`, () =>
    withFolder(async (directory) => {
      const failures: string[] = [];
      const outbox = openFile(directory, failures);
      for (let number = 0; number < 4; number++) outbox.append(entry(number, 20));
      const isSettled = outbox.mark();
      const [file = ""] = (await readdir(directory)).filter((name) => name.endsWith(".events"));
      const frame = (await stat(join(directory, file))).size / 4;
      await truncate(join(directory, file), bytesLeft * frame);
      const taken = await outbox.take({ events: 9, bytes: 9999 });
      assert.deepEqual(taken?.entries.map(numberIn) ?? [], [0].slice(0, whole));
      assert.equal(outbox.append(entry(4, 20)).kind, "kept");
      taken?.settle([0]);
      const next = await outbox.take({ events: 9, bytes: 9999 });
      assert.deepEqual(next?.entries.map(numberIn), [4]);
      next?.settle([0]);
      const unreadable = failures.filter((told) => told === `unreadable ${frame / 2}`);
      assert.match(
        failures.slice(unreadable.length).join(),
        new RegExp(`^lost ${4 - whole - unreadable.length}: .*shorter`),
      );
      assert.deepEqual(
        [unreadable.length, isSettled(), outbox.pending],
        [whole, true, { events: 0, bytes: 0 }],
      );
      await outbox.close();
      assert.deepEqual(await readdir(directory), []);
    }));

test("removed files are reported with the number of their events, except the one being written, and the outbox goes on", () =>
  withFolder(async (directory) => {
    const failures: string[] = [];
    const outbox = openFile(directory, failures);
    // A file may have an eighth of the limit.
    for (let number = 0; number < 5; number++) outbox.append(entry(number, BYTES_MAX / 20));
    await outbox.sync();
    for (const name of await readdir(directory))
      if (name.endsWith(".events")) await unlink(join(directory, name));
    assert.deepEqual(await drain(outbox), [4]);
    assert.match(failures.join(), /^lost 2: .*,lost 2: [^,]*$/);
    assert.equal(outbox.append(entry(5, 0)).kind, "kept");
    assert.deepEqual(await drain(outbox), [5]);
    await outbox.close();
    assert.deepEqual(await readdir(directory), []);
  }));

/** Moves both clocks ahead by this many milliseconds, or the wall clock by another time. */
const ahead = async (ms: number, use: () => Promise<void>, wallMs = ms): Promise<void> => {
  const [wall, steady] = [Date.now, performance.now];
  Date.now = () => wall() + wallMs;
  performance.now = () => steady.call(performance) + ms;
  try {
    await use();
  } finally {
    [Date.now, performance.now] = [wall, steady];
  }
};

test("in both outboxes an entry that is retried keeps the time of its first attempt", () =>
  withFolder(async (directory) => {
    for (const outbox of [createMemoryOutbox({ bytesMax: BYTES_MAX }), openFile(directory)]) {
      outbox.append(entry(1, 0));
      const take = async () => (await outbox.take({ events: 9, bytes: 999 }))?.mayBeResent;
      assert.equal(await take(), false);
      await ahead(0.6 * RESENT_AFTER_MS, async () => assert.equal(await take(), false));
      await ahead(1.1 * RESENT_AFTER_MS, async () => assert.equal(await take(), true));
      await outbox.close();
    }
  }));

for (const [what, steadyMs, wallMs] of [
  ["the wall clock is set back meanwhile", 2.4 * RESENT_AFTER_MS, 0.8 * RESENT_AFTER_MS],
  ["the steady clock stands still while the machine sleeps", 0, 2.4 * RESENT_AFTER_MS],
  ["the wall clock is set back behind the attempt", 0, -RESENT_AFTER_MS],
  ["the wall clock is set back by more than the time that has passed awake", 60_000, 1000],
] as const)
  test(`in both outboxes an attempt may be older than the broker remembers if ${what}`, () =>
    withFolder(async (directory) => {
      for (const outbox of [createMemoryOutbox({ bytesMax: BYTES_MAX }), openFile(directory)]) {
        outbox.append(entry(1, 0));
        const take = async () => (await outbox.take({ events: 9, bytes: 999 }))?.mayBeResent;
        assert.equal(await take(), false);
        await ahead(steadyMs, async () => assert.equal(await take(), true), wallMs);
        await outbox.close();
      }
    }));

test("a batch stays within the limit of bytes, except for a single larger entry", () =>
  withFolder(async (directory) => {
    for (const outbox of [createMemoryOutbox({ bytesMax: BYTES_MAX }), openFile(directory)]) {
      for (const [number, size] of [500, 48, 47, 1].entries()) outbox.append(entry(number, size));
      for (const expected of [[0], [1], [2, 3]]) {
        const taken = await outbox.take({ events: 9, bytes: 52 });
        assert.deepEqual(taken?.entries.map(numberIn), expected);
        taken?.settle(expected.map((_, position) => position));
      }
      await outbox.close();
    }
  }));

test("a number that was cut off while it was written does not change the next number", () =>
  withFolder(async (directory) => {
    const dead = openFile(directory);
    for (let number = 0; number < 16; number++) dead.append(entry(number, 0));
    const taken = await dead.take({ events: 9, bytes: 999 });
    taken?.settle([0]);
    const [settled = ""] = (await readdir(directory)).filter((name) => name.endsWith(".settled"));
    await appendFile(join(directory, settled), "1");
    taken?.settle([5]);
    await killHolders(directory);
    const heir = openFile(directory);
    const left = (await heir.take({ events: 99, bytes: 999 }))?.entries.map(numberIn);
    assert.deepEqual(left, [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    await heir.close();
    await dead.close();
  }));

test("rejected events have their own lines, even behind a line that was cut off and if they are not JSON", () =>
  withFolder(async (directory) => {
    const path = join(directory, "dead-letters.ndjson");
    await writeFile(path, '{"cut');
    const rejection = { code: "invalid_event", message: "no", errors: [] };
    const letters = ['{"n":1}', "no JSON"].map((text) => ({ eventId: undefined, rejection, text }));
    assert.deepEqual(await createDeadLetterFile(path).keep(letters), { kind: "kept" });
    const [cut, ...lines] = (await readFile(path, "utf8")).trimEnd().split("\n");
    assert.equal(cut, '{"cut');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).event),
      [{ n: 1 }, "no JSON"],
    );
  }));

test("rejected events that several processes write at once have their own lines, however many each process writes", () =>
  withFolder(async (directory) => {
    const path = join(directory, "dead-letters.ndjson");
    const rejection = { code: "invalid_event", message: "no", errors: [] };
    const text = JSON.stringify({ text: "x".repeat(1500) });
    const letters = Array.from({ length: 1000 }, () => ({ eventId: undefined, rejection, text }));
    const processes = Array.from({ length: 4 }, () => createDeadLetterFile(path));
    const keep = async ({ keep }: DeadLetters) => {
      for (let times = 0; times < 3; times++) assert.deepEqual(await keep(letters), { kind: "kept" });
    };
    await Promise.all(processes.map(keep));
    // A process that checks while another writes may begin with an empty line.
    const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
    assert.equal(lines.length, 4 * 3 * letters.length);
    for (const line of lines) assert.equal(JSON.stringify(JSON.parse(line).event), text);
  }));

test("a missing file is recognized even in a test runner, where the system's errors are of another realm", () => {
  assert.ok(isMissing(runInNewContext(`Object.assign(new Error("x"), { code: "ENOENT" })`)));
});

test("the events of a process that has ended on this machine can be taken over at once", () =>
  withFolder(async (directory) => {
    const { owner } = new Lease(directory);
    assert.equal(
      isAbandoned(directory, owner, () => false),
      false,
    );
    const path = join(directory, `${owner}.lease`);
    // No process has such an id: Linux counts to 2^22 at most.
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), pid: 2 ** 22 + 1 }));
    assert.equal(
      isAbandoned(directory, owner, () => false),
      true,
    );
    assert.equal(
      isAbandoned(directory, owner, () => true),
      true,
    );
  }));

test("a process that has ended counts as dead, even if its parent never reads its exit status", () =>
  withFolder(async (directory) => {
    const { owner } = new Lease(directory);
    const path = join(directory, `${owner}.lease`);
    // The ended process gets a parent that knows nothing about it, as with the first process of many containers.
    const script = "sh -c 'until grep -q sleep /proc/$PPID/comm; do :; done' & echo $!; exec sleep 60";
    const parent = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = await once(parent.stdout, "data");
      const pid = Number(String(line));
      const stat = await until("it has ended", async () => {
        const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(" ");
        return fields[2] === "Z" && fields;
      });
      const lease = JSON.parse(await readFile(path, "utf8"));
      await writeFile(path, JSON.stringify({ ...lease, pid, started: stat[21] }));
      assert.equal(
        isAbandoned(directory, owner, () => false),
        true,
      );
    } finally {
      parent.kill();
    }
  }));

test("a process on another machine counts as dead only by its silence, whichever of the two clocks is ahead", () =>
  withFolder(async (directory) => {
    for (const [name, seconds, expected] of [
      ["fresh", 0, false],
      ["silent", -3600, true],
      ["ahead", 3600, true],
    ] as const) {
      const path = join(directory, `${name}.lease`);
      await writeFile(path, JSON.stringify({ host: "another", pid: process.pid, started: null }));
      const time = new Date(Date.now() + seconds * 1000);
      await utimes(path, time, time);
      assert.equal(
        isAbandoned(directory, name, () => false),
        expected,
        name,
      );
      // After a clock change they may only seem to be old.
      assert.equal(
        isAbandoned(directory, name, () => true),
        false,
        name,
      );
    }
  }));

test("after a clock change no client counts as dead until the living ones had time to renew their leases", () =>
  withFolder(async (directory) => {
    const leases = async () => (await readdir(directory)).filter((name) => name.endsWith(".lease"));
    /** One more client with one event, and a function that gives its lease to another holder. */
    const openOne = async (number: number) => {
      const before = await leases();
      const outbox = openFile(directory);
      outbox.append(entry(number, 0));
      const [own = ""] = (await leases()).filter((name) => !before.includes(name));
      const lease = JSON.parse(await readFile(join(directory, own), "utf8"));
      const giveTo = (holder: object) =>
        writeFile(join(directory, own), JSON.stringify({ ...lease, ...holder }));
      return { outbox, giveTo };
    };
    const [elsewhere, dead] = [await openOne(1), await openOne(2)];
    await elsewhere.giveTo({ host: "another" });
    const heir = openFile(directory, [], 5);
    await ahead(
      0,
      async () => {
        await dead.giveTo({ started: "0" });
        await until("the next look", () => heir.pending.events > 0);
        assert.deepEqual(await drain(heir), [2]);
        await ahead(2 * LEASE_STALE_MS, async () => {
          await until("it is taken for dead", () => heir.pending.events > 0);
          assert.deepEqual(await drain(heir), [1]);
        });
      },
      2 * LEASE_STALE_MS,
    );
    for (const { outbox } of [elsewhere, dead]) await outbox.close();
    await heir.close();
  }));

for (const [clock, offsetMs] of [
  ["as it should be", -3_600_000],
  ["put back since", 3_600_000],
] as const)
  test(`an attempt older than the broker remembers is marked as such, with the clock ${clock}`, () =>
    withFolder(async (directory) => {
      const dead = openFile(directory);
      dead.append(entry(1, 0));
      // The id of a segment is the time it was made: an hour ago, or in the future.
      const [file = ""] = (await readdir(directory)).filter((name) => name.endsWith(".events"));
      const [owner = ""] = file.split(".");
      const old = (Date.now() + offsetMs).toString(16).padStart(12, "0");
      await rename(
        join(directory, file),
        join(directory, `${owner}.${old.slice(0, 8)}-${old.slice(8)}-7000-8000-000000000000.events`),
      );
      await killHolders(directory);
      const heir = openFile(directory);
      heir.append(entry(2, 0));
      const first = await heir.take({ events: 1, bytes: 999 });
      assert.deepEqual([first?.mayBeResent, first?.entries.map(numberIn)], [true, [1]]);
      first?.settle([0]);
      const fresh = await heir.take({ events: 1, bytes: 999 });
      assert.deepEqual([fresh?.mayBeResent, fresh?.entries.map(numberIn)], [false, [2]]);
      await heir.close();
      await dead.close();
    }));

test("the checksum is that of gzip, with and without zlib", () => {
  // The check value of the CRC catalogue: CRC-32/ISO-HDLC of "123456789".
  const check = encoder.encode("123456789");
  assert.deepEqual([crc32(check), crc32ByTable(check)], [0xcbf43926, 0xcbf43926]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) =>
      assert.equal(crc32ByTable(bytes), crc32(bytes)),
    ),
  );
});

test("postponed entries wait for their time, and the others go first; hasten() ends the wait unless it is firm", () =>
  withFolder(async (directory) => {
    for (const outbox of [createMemoryOutbox({ bytesMax: BYTES_MAX }), openFile(directory)]) {
      for (let number = 0; number < 3; number++) outbox.append(entry(number, 0));
      const taken = await outbox.take({ events: 2, bytes: 999 });
      const dueMs = performance.now() + 60_000;
      taken?.postpone([0], { dueMs, isFirm: false });
      taken?.postpone([1], { dueMs: dueMs + 1, isFirm: true });
      const due = async () => (await outbox.take({ events: 9, bytes: 999 }))?.entries.map(numberIn);
      assert.deepEqual([await due(), outbox.nextDueMs], [[2], dueMs]);
      outbox.hasten();
      assert.deepEqual([await due(), outbox.nextDueMs], [[0, 2], dueMs + 1]);
      await outbox.close();
    }
  }));

test("suspect entries are taken separately from then on, and delay only other suspects", () =>
  withFolder(async (directory) => {
    const dead = openFile(directory);
    for (const number of [0, 1]) dead.append(entry(number, 0));
    await hasLooked(dead);
    await killHolders(directory);
    const memory = createMemoryOutbox({ bytesMax: BYTES_MAX });
    for (const number of [0, 1]) memory.append(entry(number, 0));
    for (const outbox of [memory, openFile(directory)]) {
      for (const number of [2, 3, 4]) outbox.append(entry(number, 0));
      const taken = await outbox.take({ events: 9, bytes: 999 });
      assert.deepEqual([taken?.isSuspect, taken?.entries.map(numberIn)], [false, [0, 1, 2, 3, 4]]);
      const dueMs = performance.now() + 60_000;
      taken?.postpone([1, 2], { dueMs, isFirm: false, isSuspect: true });
      taken?.postpone([3], { dueMs, isFirm: false });
      outbox.hasten();
      const batches: unknown[] = [];
      for (;;) {
        const batch = await outbox.take({ events: 9, bytes: 999 });
        if (!batch) break;
        batches.push([batch.isSuspect, batch.entries.map(numberIn)]);
        batch.settle([...batch.entries.keys()]);
      }
      assert.deepEqual(batches, [
        [false, [0, 3, 4]],
        [true, [1, 2]],
      ]);
      await outbox.close();
    }
    await dead.close();
  }));

test("suspect entries are taken only if nothing else is due, however old they are", () =>
  withFolder(async (directory) => {
    for (const outbox of [createMemoryOutbox({ bytesMax: BYTES_MAX }), openFile(directory)]) {
      for (const number of [0, 1]) outbox.append(entry(number, 0));
      const first = await outbox.take({ events: 9, bytes: 999 });
      first?.postpone([0], { dueMs: 0, isFirm: true, isSuspect: true });
      for (const expected of [[1], [0]]) {
        const taken = await outbox.take({ events: 9, bytes: 999 });
        assert.deepEqual(taken?.entries.map(numberIn), expected);
        taken?.settle([0]);
      }
      assert.equal(await outbox.take({ events: 9, bytes: 999 }), undefined);
      await outbox.close();
    }
  }));

test("the next due time can be computed for more files than a call can have arguments", () => {
  const segments = new SegmentList();
  for (let file = 0; file < 140_000; file++) {
    const segment = new Segment("");
    segment.postpone([{ index: 0, length: 0 }], { dueMs: 140_000 - file, isFirm: false });
    segments.addAdopted(segment);
  }
  assert.equal(segments.nextDueMs, 1);
});

test("a full outbox takes events again after its entries are settled", () =>
  withFolder(async (directory) => {
    for (const outbox of [createMemoryOutbox({ bytesMax: BYTES_MAX }), openFile(directory)]) {
      const fill = (): number => {
        let kept = 0;
        while (outbox.append(entry(kept, 1000)).kind === "kept") kept++;
        return kept;
      };
      const first = fill();
      assert.ok(first > 50);
      for (let left = first; left > 0; ) {
        const taken = await outbox.take({ events: 10, bytes: BYTES_MAX });
        assert.ok(taken);
        taken.settle([...taken.entries.keys()]);
        left -= taken.entries.length;
      }
      assert.equal(fill(), first);
      await outbox.close();
    }
  }));

test("a client whose lease was taken still respects its size limit", () =>
  withFolder(async (directory) => {
    const fill = (outbox: Outbox): number => {
      let kept = 0;
      while (outbox.append(entry(1, 1000)).kind === "kept") kept++;
      return kept;
    };
    const [one, other] = [openFile(join(directory, "one")), openFile(join(directory, "other"))];
    for (let number = 0; number < 5; number++) one.append(entry(1, 1200));
    assert.equal((await drain(one)).length, 5);
    for (const name of await readdir(join(directory, "one")))
      if (name.endsWith(".lease")) await unlink(join(directory, "one", name));
    await late(() => assert.equal(one.append(entry(1, 1000)).kind, "kept"));
    assert.equal(fill(one) + 1, fill(other));
    for (const outbox of [one, other]) await outbox.close();
  }));

for (const sync of ["always", "never"] as const)
  test(`events of one turn of the loop are synced together right after it if that is set (${sync})`, () =>
    withFolder(async (directory) => {
      const { sync: original } = FileSync.prototype;
      let syncs = 0;
      FileSync.prototype.sync = function counted() {
        syncs++;
        return original.call(this);
      };
      try {
        const outbox = openFile(directory, [], 60_000, sync);
        for (let number = 0; number < 3; number++) outbox.append(entry(number, 0));
        for (let turn = 0; turn < 3; turn++) await setImmediate();
        assert.equal(syncs, sync === "always" ? 1 : 0);
        await outbox.close();
      } finally {
        FileSync.prototype.sync = original;
      }
    }));

test("events in a folder that was away for a moment, as during a remount, are not lost", () =>
  withFolder(async (folder) => {
    // A thread of the system looks for the file: after some of these turns it has, and the file is back when the result arrives.
    for (let turns = 0; turns < 20; turns++) {
      const [directory, away] = [join(folder, `${turns}`), join(folder, `${turns}-away`)];
      const failures: string[] = [];
      const outbox = openFile(directory, failures);
      outbox.append(entry(1, 10));
      await outbox.take({ events: 0, bytes: BYTES_MAX });
      renameSync(directory, away);
      const taking = outbox.take({ events: 10, bytes: BYTES_MAX }).catch(() => undefined);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      // If the result arrived earlier, there is another folder by now.
      if (existsSync(directory)) return void (await outbox.close());
      renameSync(away, directory);
      const taken = (await taking) ?? (await outbox.take({ events: 10, bytes: BYTES_MAX }));
      assert.deepEqual([turns, taken?.entries.map(numberIn), failures], [turns, [1], []]);
      await outbox.close();
    }
  }));
