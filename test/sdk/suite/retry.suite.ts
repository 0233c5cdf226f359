/** When a client retries. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Delivery, EventOutcome } from "../../../src/sdk/delivery.ts";
import {
  REFUSED_RETRY_CAP_MS,
  RETRY_AFTER_MS_MAX,
  RETRY_BASE_MS,
  RETRY_CAP_MS,
} from "../../../src/sdk/limits.ts";
import type { Kept } from "../../../src/sdk/outbox.ts";
import { Pace } from "../../../src/sdk/pace.ts";
import { createReports } from "../../../src/sdk/reports.ts";
import { backoffMs, nextAttemptMs, retryAfterMs } from "../../../src/sdk/retry.ts";
import { Sender } from "../../../src/sdk/sender.ts";
import { createMemoryOutbox } from "../../../src/sdk/sqlite-outbox.ts";
import { until } from "../../support/until.ts";

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const failures = fc.integer({ min: 1, max: 2000 });

test("waits grow with the failures up to the cap, with a random part so that clients do not return together", () => {
  fc.assert(
    fc.property(failures, chance, (count, drawn) => {
      const capMs = 60_000;
      const waitMs = backoffMs({ failures: count, capMs, random: () => drawn });
      assert.ok(waitMs >= 0 && waitMs < Math.min(capMs, RETRY_BASE_MS * 2 ** (count - 1)) + 1);
    }),
  );
  assert.equal(backoffMs({ failures: 1, capMs: 60_000, random: () => 0 }), 0);
  assert.equal(backoffMs({ failures: 3, capMs: 60_000, random: () => 0.5 }), 2 * RETRY_BASE_MS);
  assert.equal(backoffMs({ failures: 99, capMs: 60_000, random: () => 0.5 }), 30_000);
});

test("no attempt is made before the time that the service asked for", () => {
  fc.assert(
    fc.property(failures, chance, fc.integer({ min: 0, max: 10_000 }), (count, drawn, askedMs) => {
      assert.ok(nextAttemptMs({ failures: count, capMs: 60_000, askedMs, random: () => drawn }) >= askedMs);
    }),
  );
});

test("clients that are asked to wait return spread out after that time, and not all at its end", () => {
  const wait = (drawn: number) =>
    nextAttemptMs({ failures: 3, capMs: 60_000, askedMs: 10_000, random: () => drawn });
  assert.deepEqual([wait(0), wait(0.5)], [10_000, 10_000 + 2 * RETRY_BASE_MS]);
});

test("Retry-After is read in seconds and as a date, and an invalid value means no wait", () => {
  const nowMs = Date.parse("2026-11-20T10:00:00Z");
  assert.deepEqual(
    [
      "0",
      " 7 ",
      "Fri, 20 Nov 2026 10:00:30 GMT",
      "Fri, 20 Nov 2026 09:00:00 GMT",
      "99999999",
      "soon",
      "",
      "-5",
      "1.5",
    ].map((text) => retryAfterMs(text, nowMs)),
    [0, 7000, 30_000, 0, RETRY_AFTER_MS_MAX, undefined, undefined, undefined, undefined],
  );
  assert.equal(retryAfterMs(null, nowMs), undefined);
});

test("Retry-After may have any number of digits, and a date without a zone is UTC wherever the program runs", () => {
  const nowMs = Date.parse("2026-11-20T10:00:00Z");
  assert.deepEqual(
    ["18446744073709551615", "9".repeat(400), "000000000000007", "Fri Nov 20 10:00:30 2026"].map((text) =>
      retryAfterMs(text, nowMs),
    ),
    [RETRY_AFTER_MS_MAX, RETRY_AFTER_MS_MAX, 7000, 30_000],
  );
});

const STORED: Delivery = { kind: "answered", outcomes: [{ kind: "stored" }], duplicates: 0, warnings: [] };

/** Longer than anything here takes on a busy machine, and shorter than any wait that the sender should not make. */
const SOON_MS = RETRY_CAP_MS / 2;

/** One event whose attempts get these answers in turn, and its sender. Waits have their maximum length; a batch is collected for a minute. */
const sending = (...answers: readonly Delivery[]) => sendingWith(KEPT, answers);

const KEPT: Kept = { kind: "kept" };

/** `kept` is what becomes of a dead letter, each time. */
const sendingWith = (kept: Kept | (() => Kept), answers: readonly Delivery[], random = 1) => {
  const outbox = createMemoryOutbox({ bytesMax: 1000 });
  outbox.keepRejected = () => (typeof kept === "function" ? kept() : kept);
  outbox.append("{}");
  const made = { attempts: 0 };
  const reports = createReports({ onProblem: () => {} });
  const sender = new Sender({
    outboxes: [outbox],
    deliver: async () => answers[made.attempts++] ?? STORED,
    reports,
    limits: { events: 10, bytes: 1000 },
    flushIntervalMs: 60_000,
    random: () => random,
  });
  return { sender, outbox, reports, made };
};

test("after a failure the next attempt is made when its wait is over, however long batches are collected", async () => {
  const { sender } = sending({ kind: "again", reason: "503" });
  assert.deepEqual(await sender.flush(SOON_MS), { kind: "flushed" });
  await sender.stop();
});

test("a flush does not wait for the client's own back-off", async () => {
  const aMinute = RETRY_CAP_MS / RETRY_BASE_MS;
  const { sender } = sendingWith(KEPT, [{ kind: "again", reason: "503" }], aMinute);
  await until("it was tried", () => sender.failure);
  assert.deepEqual(await sender.flush(SOON_MS), { kind: "flushed" });
  await sender.stop();
});

test("an event that is retried waits longer each time", async () => {
  const outcomes = [{ kind: "again", reason: "overloaded" }] as const;
  const again: Delivery = { kind: "answered", outcomes, duplicates: 0, warnings: [] };
  const { sender, outbox, made } = sendingWith(KEPT, [again, again, again], 20);
  const waitMs = async () => {
    const dueMs = await until("it is postponed", () => outbox.nextDueMs);
    return dueMs - performance.now();
  };
  const first = await waitMs();
  for (const attempts of [2, 3]) {
    await sender.flush(1);
    await until("it was retried", () => made.attempts === attempts);
    await waitMs();
  }
  const third = await waitMs();
  assert.ok(first <= 20 * RETRY_BASE_MS && third > 60 * RETRY_BASE_MS, `${first} ms, then ${third} ms`);
  await sender.stop();
});

test("a rejected event stays in the outbox until it is kept as a dead letter, and is reported once", async () => {
  const rejection = { code: "invalid_event", message: "no", errors: [] };
  const rejected: Delivery = {
    kind: "answered",
    outcomes: [{ kind: "rejected", rejection }],
    duplicates: 0,
    warnings: [],
  };
  const keeping: Kept[] = [{ kind: "failed", reason: "the disk is full" }];
  const keep = (): Kept => keeping.shift() ?? KEPT;
  const { sender, outbox, reports } = sendingWith(keep, [rejected, rejected]);
  await until("it could not be kept", () => outbox.nextDueMs);
  assert.deepEqual([outbox.pending.events, reports.rejections], [1, 0]);
  assert.deepEqual(await sender.flush(SOON_MS), { kind: "flushed" });
  assert.deepEqual([outbox.pending.events, reports.rejections], [0, 1]);
  await sender.stop();
});

test("if an answer accepts some events and asks to wait for the others, the client waits, even in a flush", async () => {
  const outcomes = [{ kind: "again", reason: "rate_limited" }] as const;
  const askedMs = 1500;
  const { sender, outbox } = sending({ kind: "answered", outcomes, duplicates: 0, warnings: [], askedMs });
  await until("it is postponed", () => outbox.nextDueMs);
  assert.equal((await sender.flush(1)).kind, "pending");
  assert.deepEqual(await sender.flush(SOON_MS), { kind: "flushed" });
  await sender.stop();
});

test("a flush sends postponed events at once", async () => {
  const outcomes = [{ kind: "again", reason: "overloaded" }] as const;
  const answer: Delivery = { kind: "answered", outcomes, duplicates: 0, warnings: [] };
  const { sender, outbox } = sendingWith(KEPT, [answer], RETRY_CAP_MS / RETRY_BASE_MS);
  await until("it is postponed", () => outbox.nextDueMs);
  assert.deepEqual(await sender.flush(SOON_MS), { kind: "flushed" });
  await sender.stop();
});

test("a flush that leaves events behind gives the reason, even if the service answered for them", async () => {
  const rejection = { code: "status_403", message: "no", errors: [] };
  const answered = (outcome: EventOutcome, askedMs?: number): Delivery => ({
    kind: "answered",
    outcomes: [outcome],
    duplicates: 0,
    warnings: [],
    ...(askedMs !== undefined && { askedMs }),
  });
  const full: Kept = { kind: "failed", reason: "the disk is full" };
  const again = answered({ kind: "again", reason: "rate_limited" }, 10_000);
  const cases: readonly (readonly [Kept, Delivery, string])[] = [
    [full, answered({ kind: "rejected", rejection }), "Rejected events cannot be kept: the disk is full"],
    [full, again, "rate_limited"],
  ];
  for (const [kept, answer, reason] of cases) {
    const { sender } = sendingWith(kept, Array(10).fill(answer));
    assert.deepEqual(await sender.flush(RETRY_BASE_MS / 5), { kind: "pending", events: 1, reason });
    await sender.stop();
  }
});

test("a flush says why an event is set aside, even if others were sent since", async () => {
  const rejection = { code: "status_403", message: "no", errors: [] };
  const refused = { kind: "rejected", rejection, isOurs: false } as const;
  const { sender, outbox } = sending(refused, STORED, refused);
  await until("it stands aside", () => outbox.nextDueMs);
  outbox.append("{}");
  assert.deepEqual(await sender.flush(RETRY_BASE_MS / 5), { kind: "pending", events: 1, reason: "no" });
  await sender.stop();
});

/** Events that consist only of their ids, sent without waits of our own unless `random` sets them. The test says how the service answers a request. */
const sendingAll = (
  ids: readonly string[],
  answer: (ids: readonly string[]) => Delivery,
  random: () => number = () => 0,
) => {
  const outbox = createMemoryOutbox({ bytesMax: 10_000 });
  for (const id of ids) outbox.append(id);
  const asked: { readonly ids: readonly string[]; readonly atMs: number }[] = [];
  const reports = createReports({ onProblem: () => {} });
  const sender = new Sender({
    outboxes: [outbox],
    deliver: async ({ events: ids }) => {
      asked.push({ ids, atMs: performance.now() });
      return answer(ids);
    },
    reports,
    limits: { events: 10, bytes: 1000 },
    flushIntervalMs: 1,
    random,
  });
  return { sender, outbox, reports, asked };
};

const storedAll = (ids: readonly string[]): Delivery => ({
  kind: "answered",
  outcomes: ids.map(() => ({ kind: "stored" })),
  duplicates: 0,
  warnings: [],
});

test("an event that was set aside is retried alone and after newer events, so that they do not wait for it", async () => {
  const { sender, outbox, asked } = sendingAll(["evt_bad"], (ids) =>
    ids.includes("evt_bad") ? { ...AGAIN, suspect: "content" } : storedAll(ids),
  );
  await until("it stands aside", () => outbox.nextDueMs);
  for (const id of ["evt_1", "evt_2"]) outbox.append(id);
  assert.equal((await sender.flush(RETRY_BASE_MS)).kind, "pending");
  await sender.stop();
  assert.deepEqual(
    asked.map(({ ids }) => ids),
    [["evt_bad"], ["evt_1", "evt_2"], ["evt_bad"]],
  );
});

test("the outcome of a request in flight does not postpone a flush that was called meanwhile", async () => {
  const failing: Delivery[] = [AGAIN, { ...AGAIN, suspect: "content" }];
  for (const failed of failing) {
    let fail: (() => void) | undefined;
    const answers = [new Promise<Delivery>((answer) => (fail = () => answer(failed)))];
    const outbox = createMemoryOutbox({ bytesMax: 10_000 });
    outbox.append("{}");
    const sender = new Sender({
      outboxes: [outbox],
      deliver: async ({ events }) => (await answers.shift()) ?? storedAll(events),
      reports: createReports({ onProblem: () => {} }),
      limits: { events: 10, bytes: 1000 },
      flushIntervalMs: 1,
      // One minute.
      random: () => RETRY_CAP_MS / RETRY_BASE_MS,
    });
    await until("it is on its way", () => answers.length === 0);
    const flushed = sender.flush(SOON_MS);
    fail?.();
    assert.deepEqual(await flushed, { kind: "flushed" });
    await sender.stop();
  }
});

const AGAIN = { kind: "again", reason: "late" } as const;
const REJECTED = {
  kind: "rejected",
  rejection: { code: "invalid_request", message: "no", errors: [] },
} as const;
const TOO_MUCH = {
  kind: "rejected",
  rejection: { code: "status_413", message: "no", errors: [] },
  isOurs: false,
} as const;

/** What becomes of two events whose requests get this answer, each time: the sizes of the requests, rejected events, and those set aside. */
const STEPS: readonly (readonly [
  name: string,
  Delivery,
  sizes: readonly number[],
  rejected: number,
  aside: boolean,
])[] = [
  ["no answer, or one that says to come again", AGAIN, [2, 2], 0, false],
  ["a request that was too much for its time", { ...AGAIN, suspect: "size" }, [2, 1, 1], 0, false],
  ["a request that the service fails over", { ...AGAIN, suspect: "content" }, [2, 1, 1], 0, true],
  ["a key or an address that is refused", { kind: "refused", reason: "401" }, [2, 2], 0, false],
  ["a request that the service rejects", { ...REJECTED, isOurs: true }, [2, 1, 1], 2, false],
  ["a request that something in between rejects", { ...REJECTED, isOurs: false }, [2, 1, 1], 0, true],
  ["a request that is too large for something in between", TOO_MUCH, [2, 1, 1], 2, false],
];

for (const [name, delivery, sizes, rejected, isAside] of STEPS)
  test(`the next step is right after ${name}`, async () => {
    const { sender, outbox, reports, asked } = sendingAll(
      ["evt_1", "evt_2"],
      () => delivery,
      () => 0.01,
    );
    await until("it was tried", () => asked.length >= sizes.length);
    await until("its outcome is known", () => !isAside || outbox.nextDueMs !== undefined);
    await sender.stop();
    assert.deepEqual(
      [asked.slice(0, sizes.length).map(({ ids }) => ids.length), reports.rejections, outbox.pending.events],
      [sizes, rejected, 2 - rejected],
    );
    const waitMs = (outbox.nextDueMs ?? 0) - performance.now();
    assert.equal(waitMs > REFUSED_RETRY_CAP_MS - SOON_MS && waitMs <= REFUSED_RETRY_CAP_MS, isAside);
  });

/** The pace of requests of up to 16 events; the clock stands still unless a test moves it. */
const pacing = () => {
  const clock = { nowMs: 1000 };
  const pace = new Pace({ eventsMax: 16, now: () => clock.nowMs, random: () => 0.5 });
  return { clock, pace };
};

test("a request is halved down to one event, and grows again with each success, up to the set limit", () => {
  const { pace } = pacing();
  const halved = [16, 8, 4, 2, 1].map((sent) => {
    pace.halve(sent);
    return pace.events;
  });
  assert.deepEqual(halved, [8, 4, 2, 1, 1]);
  const grown = Array.from({ length: 5 }, () => {
    pace.answered(undefined);
    return pace.events;
  });
  assert.deepEqual(grown, [2, 4, 8, 16, 16]);
});

test("consecutive failures wait longer each time, until a request is answered", () => {
  const { clock, pace } = pacing();
  const waitMs = () => {
    pace.failed({ capMs: RETRY_CAP_MS, askedMs: undefined });
    return pace.opensMs - clock.nowMs;
  };
  const [first, second] = [waitMs(), waitMs()];
  assert.deepEqual([first, second, pace.isOpen], [RETRY_BASE_MS / 2, RETRY_BASE_MS, false]);
  clock.nowMs = pace.opensMs;
  assert.equal(pace.isOpen, true);
  pace.answered(undefined);
  assert.equal(waitMs(), first);
});

test("a flush overrides the client's own back-off, but not a wait that the service asked for", () => {
  const { clock, pace } = pacing();
  pace.failed({ capMs: RETRY_CAP_MS, askedMs: 300 });
  assert.equal(pace.opensMs - clock.nowMs, 300 + RETRY_BASE_MS / 2);
  pace.hasten();
  assert.equal(pace.opensMs - clock.nowMs, 300);
});
