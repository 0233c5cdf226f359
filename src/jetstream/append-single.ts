/** Appends one record by itself, and repeats the question while the broker is still replicating its id. */
import { APPEND_ACK_MS_MAX } from "../limits.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import type { Outcome, Sequence } from "../log/outcome.ts";
import type { Acknowledgement } from "./ack-inbox.ts";
import { API_ERROR } from "./api-errors.ts";
import type { AppendExchange } from "./append-exchange.ts";

/** Pause before the question is repeated. */
const IN_PROCESS_WAIT_MS = 20;

export const appendSingle = async (
  exchange: AppendExchange,
  record: OutgoingRecord,
  elapsedMs: () => number,
): Promise<Outcome> => {
  const answer = await askSingle(exchange, record, elapsedMs);
  return answer === "in process" ? STILL_IN_PROCESS : outcomeOf(answer);
};

/** `after`: refused unless this is the last sequence of the stream. */
export const askSingle = async (
  exchange: AppendExchange,
  record: OutgoingRecord,
  elapsedMs: () => number,
  after?: Sequence,
): Promise<Acknowledgement | "in process"> => {
  const deadline = elapsedMs() + APPEND_ACK_MS_MAX;
  for (;;) {
    const answer = await exchange.single(record, after);
    if (!isInProcess(answer)) return answer;
    if (elapsedMs() > deadline) return "in process";
    await new Promise((resolve) => setTimeout(resolve, IN_PROCESS_WAIT_MS));
  }
};

const STILL_IN_PROCESS: Outcome = {
  kind: "unknown",
  detail: "The same event is still being stored by another request.",
};

/**
 * With three replicas: another message with this id is being replicated, and may still fail. 2.15 answers with an error, older servers with
 * sequence 0.
 */
const isInProcess = (answer: Acknowledgement): boolean =>
  (answer.kind === "error" && answer.code === API_ERROR.duplicateInProcess) ||
  (answer.kind === "duplicate" && answer.sequence === 0);

export const outcomeOf = (answer: Acknowledgement): Outcome => {
  switch (answer.kind) {
    case "stored":
      return { kind: "appended", sequence: answer.sequence };
    case "duplicate":
      return { kind: "duplicate", sequence: answer.sequence };
    case "error":
      return { kind: "refused", reason: "unavailable", detail: "The event log did not take the event." };
    case "none":
      return NOT_ACKNOWLEDGED;
  }
};

export const NOT_ACKNOWLEDGED: Outcome = {
  kind: "unknown",
  detail: "The event log did not acknowledge the event.",
};

export const NOT_CONNECTED: Outcome = {
  kind: "refused",
  reason: "unavailable",
  detail: "The event log is not connected.",
};
