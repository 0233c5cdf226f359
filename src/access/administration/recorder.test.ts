/** Write-ahead without a broker: what is appended when, and what is left in the log if something fails. */
import { expect, test } from "bun:test";
import { FAILURE_MARKS_WAITING_MAX } from "../../limits.ts";
import type { OutgoingRecord } from "../../log/event-log.ts";
import type { Outcome } from "../../log/outcome.ts";
import type { ActionResult } from "../action.ts";
import { SCOPES } from "../scopes.ts";
import { createRecorder } from "./recorder.ts";
import type { Action } from "./system-events.ts";

const STORED: Outcome = { kind: "appended", sequence: 1 };
const REFUSED: Outcome = { kind: "refused", reason: "unavailable", detail: "away" };
const UNKNOWN: Outcome = { kind: "unknown", detail: "no answer" };
const WRITTEN: ActionResult = { kind: "written" };

const action: Action = { type: "system.key_revoked", tenant: "acme", details: { key_id: "k".repeat(12) } };
const by = {
  principal: { keyId: "admin", tenant: "default", scopes: SCOPES, isAdmin: true },
  requestId: "019dd0a2-0000-7000-8000-000000000000",
} as const;

const setUp = () => {
  /** The log's next answers, one by one. After them it stores. */
  const answers: Outcome[] = [];
  const tried: OutgoingRecord[] = [];
  const done: string[] = [];
  const counted: string[] = [];
  const errors: unknown[] = [];
  let accepted = 0;
  let made = 0;
  let tick = () => {};
  const note = () => {};
  const recorder = createRecorder({
    isActive: ({ keyId }) => keyId !== "ended",
    appender: {
      append: async (records) => {
        tried.push(...records);
        return records.map(() => answers.shift() ?? STORED);
      },
    },
    subjectOf: (tenant, assetId, eventType) => `${tenant} ${assetId} ${eventType}`,
    now: () => new Date("2026-11-20T10:00:00Z"),
    newId: () => `019dd0a2-0000-7000-8000-${String(++made).padStart(12, "0")}`,
    onAccepted: ({ events }) => {
      accepted += events;
    },
    onAction: (type, outcome) => counted.push(`${type} ${outcome}`),
    pause: (_durationMs, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      tick = resolve;
      signal.addEventListener("abort", () => resolve());
      return promise;
    },
    logger: {
      isEnabled: () => true,
      request: note,
      debug: note,
      info: note,
      warn: note,
      error: (message, fields) => errors.push({ message, ...fields }),
    },
  });
  return {
    recorder,
    answers,
    tried,
    done,
    counted,
    errors,
    acceptedCount: () => accepted,
    /** Lets the waiting failure marks be tried once more. */
    tick: async () => {
      tick();
      await turn();
    },
    types: () => tried.map(({ subject }) => subject.split(" ")[2]),
    carryOut: (result: ActionResult = WRITTEN) =>
      recorder.carryOut({
        by,
        action,
        work: async () => {
          done.push(`after ${tried.length}`);
          return result;
        },
      }),
  };
};

/** After this, all promises that can continue have continued. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

const eventIn = (record: OutgoingRecord | undefined) => JSON.parse(record?.text ?? "");

test("an action is not done, and is marked as failed, if it is unknown whether its event was stored", async () => {
  const { carryOut, answers, done, tried, types, acceptedCount } = setUp();
  answers.push(UNKNOWN);
  expect((await carryOut()).kind).toBe("unavailable");
  await turn();
  expect([done, types()]).toEqual([[], ["system.key_revoked", "system.action_failed"]]);
  expect(eventIn(tried[1]).metadata).toEqual({
    tenant: "acme",
    actor: "admin",
    request_id: by.requestId,
    failed_event_id: eventIn(tried[0]).event_id,
    failed_event_type: "system.key_revoked",
    effect: "none",
  });
  expect(acceptedCount()).toBe(1);
});

test("an action that throws is marked as failed, and its error is passed on", async () => {
  const { recorder, tried } = setUp();
  const work = () => Promise.reject(new Error("a fault"));
  await expect(recorder.carryOut({ by, action, work })).rejects.toThrow("a fault");
  await turn();
  expect(eventIn(tried[1]).metadata).toMatchObject({ effect: "unknown" });
});

test("a failure mark is retried as the same record until the log accepts it", async () => {
  const { recorder, carryOut, answers, tried, tick, acceptedCount, errors } = setUp();
  const stopping = new AbortController();
  const running = recorder.run(stopping.signal);
  answers.push(STORED, REFUSED, UNKNOWN, { kind: "duplicate", sequence: 2 });
  await carryOut({ kind: "conflict" });
  await turn();
  expect(tried).toHaveLength(2);
  await tick();
  await tick();
  await tick();
  expect(tried).toHaveLength(4);
  expect(new Set(tried.slice(1).map(({ messageId }) => messageId)).size).toBe(1);
  // The duplicate is our own record, whose acknowledgement was lost.
  expect(acceptedCount()).toBe(2);
  stopping.abort();
  await running;
  expect(errors).toEqual([]);
});

test("failure marks that were never stored are reported when the service stops, and at once if there are too many", async () => {
  const { recorder, carryOut, answers, errors } = setUp();
  const stopping = new AbortController();
  const running = recorder.run(stopping.signal);
  for (let index = 0; index <= FAILURE_MARKS_WAITING_MAX; index++) {
    answers.splice(0, Number.POSITIVE_INFINITY, STORED, ...Array(FAILURE_MARKS_WAITING_MAX).fill(REFUSED));
    await carryOut({ kind: "conflict" });
  }
  await turn();
  expect(errors).toHaveLength(1);
  stopping.abort();
  await running;
  expect(errors).toHaveLength(FAILURE_MARKS_WAITING_MAX + 1);
  expect(errors.at(-1)).toEqual({
    message: "a failed action is not marked in the log",
    request_id: by.requestId,
    tenant: "acme",
    key_id: "admin",
  });
});
