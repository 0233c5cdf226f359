import { Buffer } from "node:buffer";
import { createInbox, type NatsConnection, type Subscription } from "nats";
import { APPEND_ACK_MS_MAX } from "../limits.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import type { Outcome } from "../log/outcome.ts";
import { createDeadline } from "../runtime/deadline.ts";
import { API_ERROR, describeApiError, isDuplicateInBatch } from "./api-errors.ts";
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
      const { reply, answer } = inbox.expect();
      wire.sendCommand(encodeSingle(record, reply));
      return note(await answer);
    },
    batch: async (entries) => {
      const batchId = `${batchPrefix}-${(nextBatch++).toString(36)}`;
      const { reply, answer } = inbox.expect();
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
      return { kind: "refused", reason: "unavailable", detail: "The event log did not accept the event." };
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
  expect(): { readonly reply: string; readonly answer: Promise<Acknowledgement> };
  /** Answers everything that waits with `none`: after a reconnect nothing will come. */
  abandon(detail: string): void;
  isWaiting(): boolean;
}

const openAckInbox = (nats: NatsConnection): AckInbox => {
  const prefix = createInbox();
  const waiting = new Map<string, (answer: Acknowledgement) => void>();
  const deadline = createDeadline(APPEND_ACK_MS_MAX);
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
    expect: () => {
      // nats.js stays silent about a subscription that was refused once: records would be stored and never acknowledged.
      if (subscription.isClosed() && !nats.isClosed()) subscription = subscribe();
      const reply = `${prefix}.${(next++).toString(36)}`;
      const { promise, resolve } = Promise.withResolvers<Acknowledgement>();
      const met = deadline(() => settle(reply, { kind: "none", detail: "no acknowledgement came in time" }));
      waiting.set(reply, (answer) => {
        met();
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

const HEADER_START = "NATS/1.0\r\nNats-Msg-Id: ";
const LINE_END_AND_HEADER_START = `\r\n${HEADER_START}`;

const encodeSingle = (record: OutgoingRecord, reply: string): Uint8Array => {
  const writer = createWriter(Buffer.allocUnsafe(bytesMax(record)), "");
  writer.write(record, ` ${reply}`, HEADERS_END);
  return writer.written();
};

/** An atomic batch (NATS ADR-50), acknowledged once, to `reply`. At most 1000 messages, and no message id twice. */
const encodeBatch = (
  entries: readonly { readonly record: OutgoingRecord }[],
  options: {
    readonly batchId: string;
    readonly reply: string;
    readonly spare: Buffer | undefined;
  },
): Buffer => {
  const { batchId, reply, spare } = options;
  let length = 0;
  for (const { record } of entries) length += bytesMax(record);
  const isEnough = spare !== undefined && spare.buffer.byteLength >= length;
  const bytes = isEnough ? Buffer.from(spare.buffer) : Buffer.allocUnsafeSlow(length);
  const writer = createWriter(bytes, `\r\nNats-Batch-Id: ${batchId}\r\nNats-Batch-Sequence: `);
  let left = entries.length;
  for (const { record } of entries) {
    const isLast = --left === 0;
    writer.write(record, isLast ? ` ${reply}` : "", isLast ? COMMIT_AND_END : HEADERS_END);
  }
  return writer.written();
};

const bytesMax = (record: OutgoingRecord): number => LINE_BYTES_MAX + record.subject.length + record.bytes;

/** An upper bound of everything except subject and payload: HPUB, reply, lengths, headers and line ends, about 250 bytes. */
const LINE_BYTES_MAX = 512;

/**
 * Writes messages character by character: a text first leaves a kilobyte of garbage per event (measured). Parts that are equal in the message before
 * are copied from there. `batch`: the headers of an atomic batch up to its number; empty for none.
 */
const createWriter = (bytes: Buffer, batch: string) => {
  let end = 0;
  let sequence = 0;
  let before: OutgoingRecord | undefined;
  let subjectAt = 0;
  let startAt = 0;

  /** `replyPart`: with a leading space, or empty. `headersEnd`: the last headers and the empty line. */
  const write = (record: OutgoingRecord, replyPart: string, headersEnd: string): void => {
    const { subject, messageId, start, text } = record;
    sequence++;
    const numberLength = batch === "" ? 0 : batch.length + digitsOf(sequence);
    const headersLength = HEADER_START.length + messageId.length + numberLength + headersEnd.length;
    let at = putAscii("HPUB ", bytes, end);
    const subjectBefore = subjectAt;
    subjectAt = at;
    at =
      before?.subject === subject
        ? putAgain(subjectBefore, subject.length, bytes, at)
        : putAscii(subject, bytes, at);
    at = putAscii(replyPart, bytes, at);
    at = putNumber(headersLength, bytes, putAscii(" ", bytes, at));
    at = putNumber(headersLength + record.bytes, bytes, putAscii(" ", bytes, at));
    at = putAscii(LINE_END_AND_HEADER_START, bytes, at);
    at = putAscii(messageId, bytes, at);
    if (batch !== "") at = putNumber(sequence, bytes, putAscii(batch, bytes, at));
    at = putAscii(headersEnd, bytes, at);
    const startBefore = startAt;
    startAt = at;
    at =
      before?.start === start ? putAgain(startBefore, start.length, bytes, at) : putAscii(start, bytes, at);
    at += bytes.write(text, at);
    end = putAscii(LINE_END, bytes, putAscii(record.end, bytes, at));
    before = record;
  };
  return { write, written: () => bytes.subarray(0, end) };
};

const putAgain = (from: number, length: number, bytes: Uint8Array, at: number): number => {
  bytes.copyWithin(at, from, from + length);
  return at + length;
};

/** Returns the index after the text. Everything except `text` is ASCII: one byte per character. */
const putAscii = (text: string, bytes: Uint8Array, at: number): number => {
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
};

const digitsOf = (value: number): number => {
  let digits = 1;
  for (let next = 10; next <= value; next *= 10) digits++;
  return digits;
};

const putNumber = (value: number, bytes: Uint8Array, at: number): number => {
  const end = at + digitsOf(value);
  let rest = value;
  for (let index = end - 1; index >= at; index--) {
    bytes[index] = ZERO + (rest % 10);
    rest = Math.trunc(rest / 10);
  }
  return end;
};

const ZERO = 0x30;

const HEADERS_END = "\r\n\r\n";
const COMMIT_AND_END = `\r\nNats-Batch-Commit: 1${HEADERS_END}`;
const LINE_END = "\r\n";
