import type { Buffer } from "node:buffer";
import { createInbox, type NatsConnection, type Subscription } from "nats";
import { APPEND_ACK_MS_MAX } from "../limits.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import type { Outcome } from "../log/outcome.ts";
import { API_ERROR, describeApiError, isDuplicateInBatch } from "./api-errors.ts";
import { encodeBatch, encodeSingle } from "./append-wire.ts";
import { type BrokerConnection, protocolOf } from "./connection.ts";
import { createStallClock, type StallReport } from "./stall-clock.ts";

/** The broker's answer to one message or one batch (NATS ADR-1 PubAck, ADR-50). */
export type Acknowledgement =
  | { readonly kind: "stored"; readonly sequence: number }
  | { readonly kind: "duplicate"; readonly sequence: number }
  /** The broker's error: certainly not stored. `code` is its err_code; 0 if nobody serves the stream. */
  | { readonly kind: "error"; readonly code: number; readonly detail: string }
  /** No answer in time, or the connection was lost: it may or may not be stored. */
  | { readonly kind: "none"; readonly detail: string };

/** Every call is answered within APPEND_ACK_MS_MAX, or with `none` as soon as the connection is lost. Never rejects. */
export interface AppendExchange extends StallReport {
  single(record: OutgoingRecord): Promise<Acknowledgement>;
  flush(): void;
  /** An atomic batch: `stored` with the sequence of its last record. */
  batch(entries: readonly { readonly record: OutgoingRecord }[]): Promise<Acknowledgement>;
  isAwaited(): boolean;
}

export const openAppendExchange = (connection: BrokerConnection, elapsedMs: () => number): AppendExchange => {
  const wire = protocolOf(connection.nats);
  const inbox = openAckInbox(connection.nats);
  const batchPrefix = crypto.randomUUID().slice(0, 8);
  /** Buffers of answered batches. New memory for each batch cost more than filling it (measured). */
  const spareBuffers: Buffer[] = [];
  let nextBatch = 0;
  const clock = createStallClock(elapsedMs);
  connection.onChange((state) => {
    if (state === "lost") inbox.abandon("the connection was lost");
    clock.cleared();
  });
  const note = (answer: Acknowledgement): Acknowledgement => {
    if (answer.kind === "stored") clock.cleared();
    // Duplicates are refused whether the log can store or not.
    else if (answer.kind !== "duplicate" && !(answer.kind === "error" && isDuplicateInBatch(answer.code)))
      clock.failed();
    return answer;
  };
  return {
    stall: clock.stall,
    isAwaited: inbox.isWaiting,
    flush: () => wire.flushPending(),
    single: async (record) => {
      const { reply, answer } = inbox.expect(APPEND_ACK_MS_MAX);
      wire.sendCommand(encodeSingle(record, reply));
      return note(await answer);
    },
    batch: async (entries) => {
      const batchId = `${batchPrefix}-${(nextBatch++).toString(36)}`;
      const { reply, answer } = inbox.expect(APPEND_ACK_MS_MAX);
      const bytes = encodeBatch(entries, { batchId, reply, spare: spareBuffers.pop() });
      wire.sendCommand(bytes);
      wire.flushPending();
      const acknowledgement = note(await answer);
      // An answer means that the broker has read all bytes, so the buffer is free. Without an answer it may still be read.
      if (acknowledgement.kind !== "none") spareBuffers.push(bytes);
      return acknowledgement;
    },
  };
};

const IN_PROCESS_WAIT_MS = 20;

export const appendSingle = async (
  exchange: AppendExchange,
  record: OutgoingRecord,
  elapsedMs: () => number,
): Promise<Outcome> => {
  const deadline = elapsedMs() + APPEND_ACK_MS_MAX;
  for (;;) {
    const answer = await exchange.single(record);
    if (!isInProcess(answer)) return outcomeOf(answer);
    if (elapsedMs() > deadline) return STILL_IN_PROCESS;
    await new Promise((resolve) => setTimeout(resolve, IN_PROCESS_WAIT_MS));
  }
};

const STILL_IN_PROCESS: Outcome = {
  kind: "unknown",
  detail: "The same event is still being stored by another request.",
};

/** With three replicas: another message with this id is being replicated. 2.15 answers with an error, older servers with sequence 0. */
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

/** One subscription for all acknowledgements, instead of one promise chain per request as in nats.js. */
interface AckInbox {
  expect(timeoutMs: number): { readonly reply: string; readonly answer: Promise<Acknowledgement> };
  /** Answers everything that waits with `none`: after a reconnect nothing will come. */
  abandon(detail: string): void;
  isWaiting(): boolean;
}

const openAckInbox = (nats: NatsConnection): AckInbox => {
  const prefix = createInbox();
  const waiting = new Map<string, (answer: Acknowledgement) => void>();
  let next = 0;
  const settle = (reply: string, answer: Acknowledgement): void => {
    const resolve = waiting.get(reply);
    waiting.delete(reply);
    resolve?.(answer);
  };
  const abandon: AckInbox["abandon"] = (detail) => {
    for (const reply of [...waiting.keys()]) settle(reply, { kind: "none", detail });
  };
  const subscribe = (): Subscription =>
    nats.subscribe(`${prefix}.*`, {
      // Never throws: nats.js would give up the whole connection.
      callback: (error, message) => {
        if (error) abandon(`acknowledgements cannot be received: ${error.message}`);
        else settle(message.subject, readAcknowledgement(message.data, message.headers?.code));
      },
    });
  let subscription = subscribe();
  return {
    expect: (timeoutMs) => {
      // nats.js stays silent about a subscription that was refused once: records would be stored and never acknowledged.
      if (subscription.isClosed() && !nats.isClosed()) subscription = subscribe();
      const reply = `${prefix}.${(next++).toString(36)}`;
      const { promise, resolve } = Promise.withResolvers<Acknowledgement>();
      const timer = setTimeout(
        () => settle(reply, { kind: "none", detail: "no acknowledgement came in time" }),
        timeoutMs,
      );
      waiting.set(reply, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      return { reply, answer: promise };
    },
    abandon,
    isWaiting: () => waiting.size > 0,
  };
};

const NO_RESPONDERS = 503;
const decoder = new TextDecoder();

const readAcknowledgement = (data: Uint8Array, status: number | undefined): Acknowledgement => {
  if (status === NO_RESPONDERS) return { kind: "error", code: 0, detail: "nobody serves the stream" };
  const body = parse(decoder.decode(data));
  const { seq, duplicate, error } = body;
  if (isObject(error)) {
    const code = Number(error.err_code ?? 0);
    const detail = describeApiError({ err_code: code, description: String(error.description) });
    return { kind: "error", code, detail };
  }
  if (typeof seq !== "number") return { kind: "none", detail: "the acknowledgement could not be read" };
  return { kind: duplicate === true ? "duplicate" : "stored", sequence: seq };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const parse = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};
