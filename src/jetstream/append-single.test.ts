/** What the broker of a cluster answers while the same id is on its way in another message: seldom, and for a moment. */
import { expect, test } from "bun:test";
import { APPEND_ACK_MS_MAX } from "../limits.ts";
import type { Acknowledgement } from "./ack-inbox.ts";
import { API_ERROR } from "./api-errors.ts";
import { appendSingle } from "./append-single.ts";

const RECORD = {
  subject: "audit.acme.a.legacy.objection",
  messageId: "id",
  start: "{",
  event: { source: new Uint8Array(2), from: 0, to: 2 },
};

const IN_PROCESS: readonly Acknowledgement[] = [
  { kind: "error", code: API_ERROR.duplicateInProcess, detail: "in process" },
  { kind: "duplicate", sequence: 0 },
];

/** Answers in turn, the last one for ever; each takes so long. */
const append = async (answers: readonly Acknowledgement[], answerMs = 0) => {
  let [asked, elapsedMs] = [0, 0];
  const single = async (): Promise<Acknowledgement> => {
    elapsedMs += answerMs;
    return answers[Math.min(asked++, answers.length - 1)] ?? { kind: "none", detail: "" };
  };
  const nothing = () => undefined;
  const batch = () => Promise.reject(new Error("no batch"));
  const exchange = { single, batch, flush: nothing, stall: nothing, isAwaited: () => false };
  return { outcome: await appendSingle(exchange, RECORD, () => elapsedMs), asked };
};

test.each(IN_PROCESS)("while the same id is being stored it is asked again: $kind", async (inProcess) => {
  expect(await append([inProcess, { kind: "duplicate", sequence: 5 }])).toEqual({
    outcome: { kind: "duplicate", sequence: 5 },
    asked: 2,
  });
  // The other one may have failed.
  const { outcome } = await append([inProcess, { kind: "stored", sequence: 6 }]);
  expect(outcome).toEqual({ kind: "appended", sequence: 6 });
});

test.each(IN_PROCESS)(
  "and not for ever: then nobody knows whether it is stored: $kind",
  async (inProcess) => {
    const { outcome, asked } = await append([inProcess], APPEND_ACK_MS_MAX);
    expect([outcome.kind, asked]).toEqual(["unknown", 2]);
  },
);

test("what the broker refused is certainly not stored, and told so", async () => {
  const refusal: Acknowledgement = { kind: "error", code: 10_077, detail: "maximum messages exceeded" };
  const { outcome, asked } = await append([refusal]);
  expect([outcome.kind, asked]).toEqual(["refused", 1]);
});
