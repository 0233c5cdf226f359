/** A waiting entry is delivered in its turn, whatever happens meanwhile; a settled entry never comes again. Both outboxes, any sequence of steps. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { type Client, createClient, type Flushed } from "prooftrail-sdk";
import { DEAD_LETTER_BYTES_MAX, RESENT_AFTER_MS } from "../../../src/sdk/limits.ts";
import { Outbox, type OutboxOptions } from "../../../src/sdk/outbox.ts";
import type { Taken } from "../../../src/sdk/outbox-file.ts";
import { createReports } from "../../../src/sdk/reports.ts";
import { uuid7 } from "../../../src/sdk/uuid.ts";
import { until } from "../../support/until.ts";
import { event } from "./events.ts";
import { database, killed, withFolder } from "./folder.ts";
import { takeAll, withScriptedService } from "./scripted-service.ts";

const BYTES_MAX = 64 * 1024;
const ALL = { events: 1000, bytes: 1_000_000 };
const entry = (number: number, size = 0): string => `${number} ${"x".repeat(size)}`;
const numberIn = (text: string): number => Number.parseInt(text, 10);

const reports = createReports({ onProblem: () => {} });

/** `failures` gets what is reported. */
const openFile = (
  directory: string,
  { failures = [], ...options }: Partial<OutboxOptions> & { readonly failures?: string[] } = {},
) =>
  new Outbox({
    directory,
    bytesMax: BYTES_MAX,
    sync: "never",
    reports: {
      ...reports,
      dropped: (drops, events) => failures.push(...drops.map(({ message }) => `lost ${events}: ${message}`)),
      problem: (_, message) => void failures.push(message),
    },
    ...options,
  });

const openMemory = () => new Outbox({ directory: undefined, bytesMax: BYTES_MAX, sync: "never", reports });

const numbersOf = (taken: Taken | undefined): readonly number[] | undefined =>
  taken?.entries.map(({ text }) => numberIn(text));

/** Settles the entries at these positions, or all. */
const settle = (taken: Taken | undefined, positions?: readonly number[]): void =>
  taken?.file.settle(taken.entries.filter((_, at) => positions?.includes(at) ?? true));

const both = async (use: (outbox: Outbox) => void | Promise<void>): Promise<void> =>
  withFolder(async (directory) => {
    for (const outbox of [openMemory(), openFile(directory)]) {
      await use(outbox);
      outbox.close();
    }
  });

/** As `withFolder`, with a folder around it for what killed processes leave. */
const withOutbox = (use: (directory: string) => Promise<void>) =>
  withFolder(async (folder) => {
    const directory = join(folder, "outbox");
    await mkdir(directory);
    await use(directory);
  });

const filesIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory)).filter((name) => name.endsWith(".sqlite"));

const drain = (outbox: Outbox): number[] => {
  const found: number[] = [];
  for (let taken = outbox.take(ALL); taken; taken = outbox.take(ALL)) {
    found.push(...(numbersOf(taken) ?? []));
    settle(taken);
  }
  return found;
};

type Step =
  | { readonly kind: "append"; readonly size: number }
  | {
      readonly kind: "take";
      readonly events: number;
      readonly bytes: number;
      readonly settle: readonly boolean[];
    }
  | { readonly kind: "sync" | "close" | "die" };

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
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom("sync" as const, "close" as const, "die" as const) }),
    },
  ),
  { maxLength: 60 },
);

/** Takes the steps, then delivers what is left: every kept entry has come out, unchanged and in order, and none after it was settled. */
const walk = (
  start: Outbox,
  all: readonly Step[],
  again: ((kind: "close" | "die") => Outbox) | undefined,
): void => {
  let outbox = start;
  const sizes = new Map<number, number>();
  const waiting = new Set<number>();
  let marks: { readonly isSettled: () => boolean; readonly before: readonly number[] }[] = [];
  const take = (step: Extract<Step, { kind: "take" }>): boolean => {
    const taken = outbox.take(step);
    const first = [...waiting].slice(0, taken?.entries.length ?? 0);
    assert.deepEqual(
      (taken?.entries ?? []).map(({ text }) => text),
      first.map((number) => entry(number, sizes.get(number))),
    );
    assert.equal(taken === undefined, waiting.size === 0);
    const chosen = first.flatMap((_, position) => (step.settle[position] ? position : []));
    settle(taken, chosen);
    for (const position of chosen) waiting.delete(first[position] ?? -1);
    for (const { isSettled, before } of marks)
      assert.equal(
        isSettled(),
        before.every((number) => !waiting.has(number)),
      );
    return taken !== undefined;
  };
  for (const step of all)
    if (step.kind === "append") {
      const number = sizes.size;
      const refused = outbox.append(entry(number, step.size));
      assert.notEqual(refused?.reason, "outbox_failed");
      sizes.set(number, step.size);
      if (!refused) waiting.add(number);
      marks.push({ isSettled: outbox.mark(), before: [...waiting] });
    } else if (step.kind === "take") take(step);
    else if (step.kind === "sync") assert.equal(outbox.sync().kind, again ? "synced" : "failed");
    else if (again) {
      outbox = again(step.kind);
      marks = [{ isSettled: outbox.mark(), before: [...waiting] }];
    }
  while (take({ kind: "take", events: 20, bytes: 20_000, settle: Array(20).fill(true) }));
  assert.deepEqual(outbox.pending, { events: 0, bytes: 0 });
  outbox.close();
};

test("every entry of a memory outbox is taken until it is settled, and then never again", () =>
  fc.assert(
    fc.property(steps, (all) => walk(openMemory(), all, undefined)),
    { numRuns: 50 },
  ));

test("every entry of a folder is taken until it is settled, even if processes die meanwhile, and nothing is left behind", () =>
  fc.assert(
    fc.asyncProperty(steps, (all) =>
      withOutbox(async (first) => {
        let directory = first;
        const failures: string[] = [];
        let outbox = openFile(directory, { failures });
        const dead: Outbox[] = [];
        walk(outbox, all, (how) => {
          if (how === "close") outbox.close();
          else {
            dead.push(outbox);
            directory = killed(directory);
          }
          outbox = openFile(directory, { failures });
          return outbox;
        });
        assert.deepEqual([failures, await readdir(directory)], [[], []]);
        for (const other of dead) other.close();
      }),
    ),
    { numRuns: 25 },
  ));

test("two clients share a folder: each delivers its own events, and what one leaves, the other takes over", () =>
  withFolder(async (directory) => {
    const [first, second] = [openFile(directory), openFile(directory)];
    first.append(entry(1));
    second.append(entry(2));
    second.takeOver();
    assert.deepEqual([numbersOf(second.take(ALL)), numbersOf(first.take(ALL))], [[2], [1]]);
    first.close();
    second.takeOver();
    assert.deepEqual(drain(second), [2, 1]);
    // One that is empty goes on with the file of the other, and one that has events gets those of the other.
    for (const own of [[], [4]]) {
      const dead = openFile(directory);
      dead.append(entry(3));
      for (const number of own) second.append(entry(number));
      dead.close();
      const before = second.mark();
      second.takeOver();
      const isSettled = second.mark();
      assert.deepEqual(
        [before(), isSettled(), second.pending.events],
        [own.length === 0, false, 1 + own.length],
      );
      assert.deepEqual(drain(second), [...own, 3]);
      assert.ok(before() && isSettled());
    }
    second.close();
    assert.deepEqual(await readdir(directory), []);
  }));

test("runs one after the other write to the same file; of several files that dead clients left, each has one heir, and the oldest goes first", () =>
  withOutbox(async (directory) => {
    const dead: Outbox[] = [];
    for (const number of [0, 1, 2]) {
      dead.push(openFile(directory));
      dead.at(-1)?.append(entry(number));
      const madeMs = Date.now();
      await until("its file is older than the next", () => Date.now() > madeMs);
    }
    const left = killed(directory);
    const heir = openFile(left);
    heir.append(entry(3));
    const other = openFile(left);
    assert.deepEqual([heir.pending.events, other.pending.events], [4, 0]);
    assert.deepEqual(drain(heir).sort(), [0, 1, 2, 3]);
    for (const outbox of [other, heir, ...dead]) outbox.close();
    for (const number of [0, 1, 2]) {
      const outbox = openFile(left);
      outbox.append(entry(number));
      outbox.close();
    }
    assert.equal((await filesIn(left)).length, 1);
    const last = openFile(left);
    assert.deepEqual(drain(last), [0, 1, 2]);
    last.close();
    assert.deepEqual(await readdir(left), []);
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
        assert.deepEqual(kindAndEvents(await next.flush({ timeoutMs: 1 })), ["pending", 3]);
        assert.deepEqual(kindAndEvents(await next.close({ timeoutMs: 1 })), ["pending", 3]);
        const answered: unknown[] = [];
        service.script = (asked) => {
          answered.push(...asked.events.map(({ event_id }) => event_id));
          return takeAll(asked);
        };
        const last = open();
        assert.deepEqual(await last.flush(), { kind: "flushed" });
        // A request that an earlier client gave up may arrive only now.
        assert.deepEqual([...new Set(answered)], ["evt_1", "evt_2", "evt_3"]);
        assert.deepEqual(await last.close(), { kind: "flushed" });
      },
    ),
  ));

const kindAndEvents = (flushed: Flushed) => [flushed.kind, flushed.kind === "pending" ? flushed.events : 0];

test("the file is as docs/outbox-file.md describes it, and no other user of the machine can read it", () =>
  withFolder(async (parent) => {
    const directory = join(parent, "outbox");
    const outbox = openFile(directory, { sync: "interval", source: () => ({ id: "sdk/1", last: 2 }) });
    for (const number of [1, 2]) outbox.append(entry(number));
    outbox.take({ events: 1, bytes: 1 });
    const rejection = {
      code: "invalid_event",
      message: "no",
      errors: [{ path: "/a", code: "c", message: "Why." }],
    };
    assert.deepEqual(outbox.keepRejected([{ eventId: undefined, rejection, text: "{}" }]), { kind: "kept" });
    const modes = [directory, ...(await readdir(directory)).map((name) => join(directory, name))].map(
      async (path) => (await stat(path)).mode & 0o777,
    );
    assert.deepEqual(await Promise.all(modes), [0o700, 0o600, 0o600]);
    outbox.close();
    const [name = ""] = await readdir(directory);
    const file = database(join(directory, name));
    const rows = (sql: string) =>
      file
        .prepare(sql)
        .all()
        .map((row) => Object.values(row));
    assert.deepEqual(rows("PRAGMA application_id"), [[0x5074726c]]);
    assert.deepEqual(rows("PRAGMA user_version"), [[1]]);
    assert.deepEqual(rows("SELECT id, body, attempts, sent_at > 0, captured_at > 0 FROM event"), [
      [1, "1 ", 1, 1, 1],
      [2, "2 ", 0, null, 1],
    ]);
    assert.deepEqual(rows("SELECT id, body, code, message, at > 0 FROM dead_letter"), [
      [1, "{}", "invalid_event", "no /a: Why.", 1],
    ]);
    assert.deepEqual(rows("SELECT * FROM meta ORDER BY key"), [
      ["next_source_sequence", "3"],
      ["source_id", "sdk/1"],
    ]);
    file.close();
  }));

test("dead letters stay in the file when everything is delivered, the next run adds to them, and there is a bound", () =>
  withFolder(async (directory) => {
    const rejection = { code: "invalid_event", message: "no", errors: [] };
    const keep = (text: string): string => {
      const outbox = openFile(directory);
      const { kind } = outbox.keepRejected([{ eventId: undefined, rejection, text }]);
      outbox.close();
      return kind;
    };
    assert.deepEqual(["a", "b", "x".repeat(DEAD_LETTER_BYTES_MAX)].map(keep), ["kept", "kept", "full"]);
    const [name = ""] = await filesIn(directory);
    const file = database(join(directory, name));
    const letters = file
      .prepare("SELECT body FROM dead_letter")
      .all()
      .map(({ body }) => body);
    file.close();
    assert.deepEqual([letters, (await readdir(directory)).length], [["a", "b"], 1]);
  }));

test("a file that cannot be read, or is of a later version, is reported and stays, and delays no other", () =>
  withFolder(async (directory) => {
    const dead = openFile(directory);
    dead.append(entry(1));
    dead.close();
    await writeFile(
      join(directory, "0-text.sqlite"),
      "This is no database, and long enough to show it.".repeat(20),
    );
    const later = database(join(directory, "1-later.sqlite"));
    later.exec("PRAGMA user_version = 2");
    later.close();
    const failures: string[] = [];
    const heir = openFile(directory, { failures });
    assert.deepEqual(drain(heir), [1]);
    assert.match(
      failures.join("\n"),
      /cannot be taken over: .*not a database\n.*1-later.sqlite is not an outbox/,
    );
    heir.close();
    assert.deepEqual((await readdir(directory)).sort(), ["0-text.sqlite", "1-later.sqlite"]);
  }));

test("a file about to be removed gets no events, and one that another process is just creating is left to it", () =>
  withFolder(async (directory) => {
    for (const [name, version] of [
      ["0-removed.sqlite", -1],
      ["1-new.sqlite", 0],
    ] as const) {
      const file = database(join(directory, name));
      file.exec(`PRAGMA user_version = ${version}`);
      file.close();
    }
    const outbox = openFile(directory);
    outbox.append(entry(1));
    const names = await filesIn(directory);
    assert.equal(names.includes("0-removed.sqlite"), false);
    outbox.close();
    const next = openFile(directory);
    assert.deepEqual(drain(next), [1]);
    next.close();
    assert.deepEqual(await readdir(directory), ["1-new.sqlite"]);
  }));

test("a damaged file is set aside with what it held, which is reported, and the outbox goes on", () =>
  withFolder(async (directory) => {
    const failures: string[] = [];
    const outbox = openFile(directory, { failures, bytesMax: 16 * 1024 * 1024 });
    // More than SQLite holds in memory.
    for (let number = 0; number < 2000; number++) outbox.append(entry(number, 3500));
    assert.equal(outbox.sync().kind, "synced");
    const [name = ""] = await filesIn(directory);
    const path = join(directory, name);
    await writeFile(path, Buffer.alloc((await stat(path)).size, 0xff), { flag: "r+" });
    drain(outbox);
    assert.match(failures.join(), /^lost \d+: The outbox file is damaged .*: it is now .*\.damaged\.$/);
    assert.equal(outbox.append(entry(7)), undefined);
    assert.deepEqual(drain(outbox), [7]);
    outbox.close();
    assert.ok((await readdir(directory)).includes(`${name}.damaged`));
  }));

test("if somebody removes the file, its events are not called synced", () =>
  withFolder(async (folder) => {
    const directory = join(folder, "outbox");
    const outbox = openFile(directory);
    outbox.append(entry(1));
    assert.deepEqual(outbox.sync(), { kind: "synced" });
    await rm(directory, { recursive: true });
    const synced = outbox.sync();
    assert.ok(synced.kind === "failed" && /was removed/.test(synced.reason));
    assert.deepEqual(drain(outbox), [1]);
    outbox.close();
  }));

test("a file that became large in an outage gives its space back when everything in it is delivered", () =>
  withFolder(async (directory) => {
    const outbox = openFile(directory, { bytesMax: 64 * 1024 * 1024, sync: "interval" });
    for (let number = 0; number < 1000; number++) outbox.append(entry(number, 20_000));
    assert.equal(drain(outbox).length, 1000);
    await until("it is small", async () => {
      const sizes = (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size);
      return (await Promise.all(sizes)).every((size) => size < 1_000_000);
    });
    assert.equal(outbox.append(entry(1)), undefined);
    assert.deepEqual(drain(outbox), [1]);
    outbox.close();
  }));

test("a folder in which version 0.1.0 left events says so, and leaves them alone", () =>
  withFolder(async (directory) => {
    const name = `${uuid7(1)}.${uuid7(2)}.events`;
    await writeFile(join(directory, name), "00000000 {}\n");
    const failures: string[] = [];
    const outbox = openFile(directory, { failures });
    outbox.close();
    assert.match(
      failures.join(),
      /has 1 files of version 0\.1\.0 .*run that version on the folder once more/,
    );
    assert.deepEqual(await readdir(directory), [name]);
  }));

/** Moves both clocks ahead by this many milliseconds, or the wall clock by another time. */
const ahead = async (ms: number, use: () => void | Promise<void>, wallMs = ms): Promise<void> => {
  const [wall, steady] = [Date.now, performance.now];
  Date.now = () => wall() + wallMs;
  performance.now = () => steady.call(performance) + ms;
  try {
    await use();
  } finally {
    [Date.now, performance.now] = [wall, steady];
  }
};

test("events that may have been sent too long ago are taken separately from the others, which are not looked up in the log", () =>
  withFolder((directory) =>
    ahead(-2 * RESENT_AFTER_MS, async () => {
      const dead = openFile(directory);
      dead.append(entry(1));
      dead.close();
      await ahead(2 * RESENT_AFTER_MS, () => {
        const heir = openFile(directory);
        heir.append(entry(2));
        for (const [number, mayBeResent] of [
          [1, true],
          [2, false],
        ]) {
          const taken = heir.take(ALL);
          assert.deepEqual([taken?.mayBeResent, numbersOf(taken)], [mayBeResent, [number]]);
          settle(taken);
        }
        heir.close();
      });
    }),
  ));

test("in both outboxes an entry that is retried keeps the time of its first attempt", () =>
  both(async (outbox) => {
    outbox.append(entry(1));
    const take = () => outbox.take(ALL)?.mayBeResent;
    assert.equal(take(), false);
    await ahead(0.6 * RESENT_AFTER_MS, () => assert.equal(take(), false));
    await ahead(1.1 * RESENT_AFTER_MS, () => assert.equal(take(), true));
  }));

for (const [what, steadyMs, wallMs] of [
  ["the wall clock is set back meanwhile", 2.4 * RESENT_AFTER_MS, 0.8 * RESENT_AFTER_MS],
  ["the steady clock stands still while the machine sleeps", 0, 2.4 * RESENT_AFTER_MS],
  ["the wall clock is set back behind the attempt", 0, -RESENT_AFTER_MS],
  ["the wall clock is set back by more than the time that has passed awake", 60_000, 1000],
] as const)
  test(`in both outboxes an attempt may be older than the broker remembers if ${what}`, () =>
    both(async (outbox) => {
      outbox.append(entry(1));
      const take = () => outbox.take(ALL)?.mayBeResent;
      assert.equal(take(), false);
      await ahead(steadyMs, () => assert.equal(take(), true), wallMs);
    }));

test("entries that are set aside wait for their time or hasten(), and then come alone, when nothing else is due", () =>
  both((outbox) => {
    for (const number of [0, 1, 2]) outbox.append(entry(number));
    const taken = outbox.take({ events: 2, bytes: 999 });
    const dueMs = performance.now() + 60_000;
    taken?.file.setAside(taken.entries, dueMs);
    assert.deepEqual([numbersOf(outbox.take(ALL)), outbox.nextDueMs], [[2], dueMs]);
    outbox.hasten();
    for (const expected of [[2], [0], [1]]) {
      const next = outbox.take(ALL);
      assert.deepEqual(numbersOf(next), expected);
      settle(next);
    }
    assert.deepEqual([outbox.take(ALL), outbox.nextDueMs], [undefined, undefined]);
  }));
