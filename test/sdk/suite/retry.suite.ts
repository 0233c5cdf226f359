/** When a client comes back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type DeadLetters, type Kept, noDeadLetters } from "../../../src/sdk/dead-letters.ts";
import type { Delivery } from "../../../src/sdk/delivery.ts";
import { RETRY_AFTER_MS_MAX, RETRY_BASE_MS } from "../../../src/sdk/limits.ts";
import { createMemoryOutbox } from "../../../src/sdk/memory-outbox.ts";
import { createReports } from "../../../src/sdk/reports.ts";
import { backoffMs, nextAttemptMs, retryAfterMs } from "../../../src/sdk/retry.ts";
import { createSender } from "../../../src/sdk/sender.ts";
import { until } from "../../support/until.ts";

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const failures = fc.integer({ min: 1, max: 2000 });

test("waits grow with the failures up to the cap, and are anywhere below, so that clients do not come back together", () => {
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

test("no attempt comes before the service asked for it", () => {
  fc.assert(
    fc.property(failures, chance, fc.integer({ min: 0, max: 10_000 }), (count, drawn, askedMs) => {
      assert.ok(nextAttemptMs({ failures: count, capMs: 60_000, askedMs, random: () => drawn }) >= askedMs);
    }),
  );
});

test("who is asked to wait comes back spread out behind that time, and not together at its end", () => {
  const wait = (drawn: number) =>
    nextAttemptMs({ failures: 3, capMs: 60_000, askedMs: 10_000, random: () => drawn });
  assert.deepEqual([wait(0), wait(0.5)], [10_000, 10_000 + 2 * RETRY_BASE_MS]);
});

test("Retry-After is understood in seconds and as a date, and what says nothing is no wait", () => {
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

const STORED: Delivery = { kind: "answered", outcomes: [{ kind: "stored" }], duplicates: 0, warnings: [] };

/** One event, whose attempts are answered with these in turn, and the sender of it. Waits are as long as they may be; a batch is gathered for a minute. */
const sending = (...answers: readonly Delivery[]) => sendingWith(noDeadLetters, answers);

const sendingWith = (deadLetters: DeadLetters, answers: readonly Delivery[]) => {
  const outbox = createMemoryOutbox({ bytesMax: 1000 });
  outbox.append(new TextEncoder().encode("{}"));
  const made = { attempts: 0 };
  const reports = createReports({ onProblem: () => {} });
  const sender = createSender({
    outboxes: [outbox],
    deliver: async () => answers[made.attempts++] ?? STORED,
    deadLetters,
    reports,
    limits: { events: 10, bytes: 1000 },
    flushIntervalMs: 60_000,
    random: () => 1,
  });
  return { sender, outbox, reports, made };
};

test("after a failure the next attempt comes when its wait is over, however long batches are gathered for", async () => {
  const { sender } = sending({ kind: "again", reason: "503" });
  assert.deepEqual(await sender.flush(2 * RETRY_BASE_MS), { kind: "flushed" });
  await sender.stop();
});

test("a flush does not wait for our own back-off", async () => {
  const { sender } = sending({ kind: "again", reason: "503" });
  await until("it was tried", () => sender.failure);
  assert.deepEqual(await sender.flush(RETRY_BASE_MS / 5), { kind: "flushed" });
  await sender.stop();
});

test("an event that a filter in between refuses is not tried again by a flush", async () => {
  const rejection = { code: "status_403", message: "no", errors: [] };
  const { sender, outbox, made } = sending({ kind: "rejected", rejection, isOurs: false });
  await until("it is postponed", () => outbox.nextDueMs);
  assert.equal((await sender.flush(RETRY_BASE_MS / 5)).kind, "pending");
  assert.equal(made.attempts, 1);
  await sender.stop();
});

test("an event that is to come again waits longer each time", async () => {
  const outcomes = [{ kind: "again", reason: "overloaded" }] as const;
  const again: Delivery = { kind: "answered", outcomes, duplicates: 0, warnings: [] };
  const { sender, outbox, made } = sending(again, again, again);
  const waitMs = async () => {
    const dueMs = await until("it is postponed", () => outbox.nextDueMs);
    return dueMs - performance.now();
  };
  const first = await waitMs();
  for (const attempts of [2, 3]) {
    await sender.flush(1);
    await until("it was tried again", () => made.attempts === attempts);
    await waitMs();
  }
  const third = await waitMs();
  assert.ok(first <= RETRY_BASE_MS && third > 3 * RETRY_BASE_MS, `${first} ms, then ${third} ms`);
  await sender.stop();
});

test("an event that is rejected stays in the outbox until it is kept as a dead letter, and is told once", async () => {
  const rejection = { code: "invalid_event", message: "no", errors: [] };
  const rejected: Delivery = {
    kind: "answered",
    outcomes: [{ kind: "rejected", rejection }],
    duplicates: 0,
    warnings: [],
  };
  const keeping: Kept[] = [{ kind: "failed", reason: "the disk is full" }];
  const keep = async (): Promise<Kept> => keeping.shift() ?? { kind: "kept" };
  const { sender, outbox, reports } = sendingWith({ keep }, [rejected, rejected]);
  await until("it could not be kept", () => outbox.nextDueMs);
  assert.deepEqual([outbox.pending.events, reports.rejections], [1, 0]);
  assert.deepEqual(await sender.flush(RETRY_BASE_MS), { kind: "flushed" });
  assert.deepEqual([outbox.pending.events, reports.rejections], [0, 1]);
  await sender.stop();
});

test("an answer that took some of the events and asks to wait for the others is waited for, also by a flush", async () => {
  const outcomes = [{ kind: "again", reason: "rate_limited" }] as const;
  const askedMs = 300;
  const { sender, outbox } = sending({ kind: "answered", outcomes, duplicates: 0, warnings: [], askedMs });
  await until("it is postponed", () => outbox.nextDueMs);
  assert.equal((await sender.flush(askedMs / 3)).kind, "pending");
  assert.deepEqual(await sender.flush(10 * askedMs), { kind: "flushed" });
  await sender.stop();
});

test("a flush sends at once what was to come again later", async () => {
  const outcomes = [{ kind: "again", reason: "overloaded" }] as const;
  const { sender, outbox } = sending({ kind: "answered", outcomes, duplicates: 0, warnings: [] });
  await until("it is postponed", () => outbox.nextDueMs);
  assert.deepEqual(await sender.flush(RETRY_BASE_MS / 5), { kind: "flushed" });
  await sender.stop();
});
