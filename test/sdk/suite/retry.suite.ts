/** When a client retries. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RETRY_AFTER_MS_MAX, RETRY_BASE_MS, RETRY_CAP_MS } from "../../../src/sdk/limits.ts";
import { Outbox } from "../../../src/sdk/outbox.ts";
import type { Kept } from "../../../src/sdk/outbox-file.ts";
import { createReports } from "../../../src/sdk/reports.ts";
import { nextAttemptMs, retryAfterMs } from "../../../src/sdk/retry.ts";
import { Sender } from "../../../src/sdk/sender.ts";
import type { Delivery, EventOutcome } from "../../../src/sdk/service.ts";
import { until } from "../../support/until.ts";

test("waits grow with the failures up to the cap, begin after what the service asked for, and have a random part", () => {
  for (const [failures, drawn, askedMs, waitMs] of [
    [1, 0, undefined, 0],
    [1, 0.999, undefined, 0.999 * RETRY_BASE_MS],
    [3, 0.5, undefined, 2 * RETRY_BASE_MS],
    [3, 0.5, 10_000, 10_000 + 2 * RETRY_BASE_MS],
    [3, 0, 10_000, 10_000],
    [99, 0.5, undefined, 30_000],
    [2000, 0.5, undefined, 30_000],
  ] as const)
    assert.equal(
      nextAttemptMs({ failures, capMs: 60_000, askedMs, random: () => drawn }),
      Math.floor(waitMs),
    );
});

test("Retry-After is read in seconds of any number of digits and as a date, in UTC; an invalid value means no wait", () => {
  const nowMs = Date.parse("2026-11-20T10:00:00Z");
  for (const [text, waitMs] of [
    ["0", 0],
    [" 7 ", 7000],
    ["000000000000007", 7000],
    ["Fri, 20 Nov 2026 10:00:30 GMT", 30_000],
    ["Fri Nov 20 10:00:30 2026", 30_000],
    ["Fri, 20 Nov 2026 09:00:00 GMT", 0],
    ["99999999", RETRY_AFTER_MS_MAX],
    ["9".repeat(400), RETRY_AFTER_MS_MAX],
    ["soon", undefined],
    ["", undefined],
    ["-5", undefined],
    ["1.5", undefined],
    [null, undefined],
  ] as const)
    assert.equal(retryAfterMs(text, nowMs), waitMs, `${text}`);
});

/** Longer than anything here takes on a busy machine, and shorter than any wait that the sender should not make. */
const SOON_MS = RETRY_CAP_MS / 2;
/** The random part that makes the first wait a minute long. */
const A_MINUTE = RETRY_CAP_MS / RETRY_BASE_MS;

const answered = (outcomes: readonly EventOutcome[], askedMs?: number): Delivery => ({
  kind: "answered",
  outcomes,
  duplicates: 0,
  warnings: [],
  ...(askedMs !== undefined && { askedMs }),
});
const storedAll = (ids: readonly string[]): Delivery => answered(ids.map(() => ({ kind: "stored" })));
const REJECTION = { code: "invalid_request", message: "no", errors: [] };
const AGAIN = { kind: "again", reason: "late" } as const;

interface Scene {
  readonly ids?: readonly string[];
  readonly answer: (ids: readonly string[], attempt: number) => Delivery | Promise<Delivery>;
  /** What becomes of a dead letter, in turn. */
  readonly kept?: readonly Kept[];
  readonly random?: number;
}

/** A sender of events that consist only of their ids. Batches are collected for a minute. */
const sending = ({ ids = ["{}"], answer, kept = [], random = 1 }: Scene) => {
  const reports = createReports({ onProblem: () => {} });
  const outbox = new Outbox({ directory: undefined, bytesMax: 10_000, sync: "never", reports });
  const keeping = [...kept];
  outbox.keepRejected = () => keeping.shift() ?? { kind: "kept" };
  for (const id of ids) outbox.append(id);
  const asked: (readonly string[])[] = [];
  const sender = new Sender({
    outbox,
    deliver: async ({ events }) => {
      asked.push(events);
      return await answer(events, asked.length);
    },
    reports,
    limits: { events: 10, bytes: 1000 },
    flushIntervalMs: 60_000,
    takeOverIntervalMs: 60_000,
    random: () => random,
  });
  return { sender, outbox, reports, asked };
};

/** These answers in turn; then everything is stored. */
const inTurn =
  (...answers: readonly Delivery[]): Scene["answer"] =>
  (ids, attempt) =>
    answers[attempt - 1] ?? storedAll(ids);

for (const [what, answer, random] of [
  ["after its wait, however long batches are collected", AGAIN, 0.1],
  ["at once for a flush, which does not wait for the client's own back-off", AGAIN, A_MINUTE],
  ["at once for a flush, also one event of an answer", answered([AGAIN]), A_MINUTE],
] as const)
  test(`an event is sent again ${what}`, async () => {
    const { sender } = sending({ answer: inTurn(answer), random });
    await until("it was tried", () => sender.failure);
    assert.deepEqual(await sender.flush(SOON_MS), { kind: "flushed" });
    await sender.stop();
  });

test("a rejected event stays in the outbox until it is kept as a dead letter, and is reported once", async () => {
  const rejected = answered([{ kind: "rejected", rejection: REJECTION }]);
  const { sender, outbox, reports } = sending({
    answer: inTurn(rejected, rejected),
    kept: [{ kind: "failed", reason: "the disk is full" }],
  });
  await until("it could not be kept", () => outbox.nextDueMs);
  assert.deepEqual([outbox.pending.events, reports.rejections], [1, 0]);
  assert.deepEqual(await sender.flush(SOON_MS), { kind: "flushed" });
  assert.deepEqual([outbox.pending.events, reports.rejections], [0, 1]);
  await sender.stop();
});

test("an event that was set aside is retried alone and after newer events, and a flush says why it waits", async () => {
  const { sender, outbox, asked } = sending({
    ids: ["evt_bad"],
    answer: (ids) => (ids.includes("evt_bad") ? { ...AGAIN, suspect: "content" } : storedAll(ids)),
    random: 0,
  });
  await until("it stands aside", () => outbox.nextDueMs);
  for (const id of ["evt_1", "evt_2"]) outbox.append(id);
  const flushed = await sender.flush(RETRY_BASE_MS);
  await sender.stop();
  assert.deepEqual(flushed, { kind: "pending", events: 1, reason: "late" });
  assert.deepEqual(asked.slice(0, 3), [["evt_bad"], ["evt_1", "evt_2"], ["evt_bad"]]);
});

test("the outcome of a request in flight does not postpone a flush that was called meanwhile", async () => {
  for (const failed of [AGAIN, { ...AGAIN, suspect: "content" } as const]) {
    let fail: (() => void) | undefined;
    const first = new Promise<Delivery>((answer) => (fail = () => answer(failed)));
    const { sender, asked } = sending({
      answer: (ids, attempt) => (attempt === 1 ? first : storedAll(ids)),
      random: A_MINUTE,
    });
    await until("it is on its way", () => asked.length > 0);
    const flushed = sender.flush(SOON_MS);
    fail?.();
    assert.deepEqual(await flushed, { kind: "flushed" });
    await sender.stop();
  }
});
