/**
 * Writes a whole commit as bytes of the NATS client protocol. nats.js builds headers one object at a time: 5 µs per message in place of less than 1
 * µs (measured).
 */
import { Buffer } from "node:buffer";
import type { OutgoingRecord } from "../log/event-log.ts";

const HEADER_START = "NATS/1.0\r\nNats-Msg-Id: ";
const LINE_END_AND_HEADER_START = `\r\n${HEADER_START}`;

export const encodeSingle = (record: OutgoingRecord, reply: string): Uint8Array => {
  const writer = createWriter(Buffer.allocUnsafe(bytesMax(record)), "");
  writer.write(record, ` ${reply}`, HEADERS_END);
  return writer.written();
};

/** An atomic batch (NATS ADR-50), acknowledged once, to `reply`. At most 1000 messages, and no message id twice. */
export const encodeBatch = (
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
