/** What the broker of a cluster answers, rarely and briefly, while another message with the same id is being stored. */
import { expect, test } from "bun:test";
import { APPEND_ACK_MS_MAX } from "../limits.ts";
import { API_ERROR } from "./api-errors.ts";
import type { Acknowledgement } from "./append-exchange.ts";
import { appendSingle } from "./append-exchange.ts";

const RECORD = { tenant: "a", subject: "audit.a", messageId: "id", start: "", text: "", end: "", bytes: 0 };

const IN_PROCESS: readonly Acknowledgement[] = [
  { kind: "error", code: API_ERROR.duplicateInProcess, detail: "in process" },
  { kind: "duplicate", sequence: 0 },
];

/** Gives the answers in turn, the last one forever. Each takes this long. */
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

test.each(IN_PROCESS)("a message is sent again while its id is being stored: $kind", async (inProcess) => {
  expect(await append([inProcess, { kind: "duplicate", sequence: 5 }])).toEqual({
    outcome: { kind: "duplicate", sequence: 5 },
    asked: 2,
  });
  // The other message may have failed.
  const { outcome } = await append([inProcess, { kind: "stored", sequence: 6 }]);
  expect(outcome).toEqual({ kind: "appended", sequence: 6 });
});

test.each(IN_PROCESS)(
  "the retries end, and then it is unknown whether the message is stored: $kind",
  async (inProcess) => {
    const { outcome, asked } = await append([inProcess], APPEND_ACK_MS_MAX);
    expect([outcome.kind, asked]).toEqual(["unknown", 2]);
  },
);

test("a message that the broker refused is certainly not stored, and is reported as refused", async () => {
  const refusal: Acknowledgement = { kind: "error", code: 10_077, detail: "maximum messages exceeded" };
  const { outcome, asked } = await append([refusal]);
  expect([outcome.kind, asked]).toEqual(["refused", 1]);
});
