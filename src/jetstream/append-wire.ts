/**
 * Writes messages as bytes of the NATS client protocol, a whole commit into one buffer. nats.js builds headers one object at a time, which
 * costs 5 µs per message; this costs less than 1 µs (measured with 1000 messages of 450 bytes). Connecting, TLS and reconnecting stay with
 * nats.js.
 */
import { Buffer } from "node:buffer";
import { type EventBytes, type OutgoingRecord, payloadBytes } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { RECORD_END } from "../log/record.ts";

const HEADER_START = "NATS/1.0\r\nNats-Msg-Id: ";

/** One message by itself; its acknowledgement goes to `reply`. */
export const encodeSingle = (record: OutgoingRecord, reply: string, after?: Sequence): Uint8Array => {
  const writer = createWriter(Buffer.allocUnsafe(bytesMax(record)), "");
  writer.write(record, ` ${reply}`, expecting(after) + HEADERS_END);
  return writer.written();
};

/**
 * An atomic batch (NATS ADR-50): all of the messages are stored or none. The one acknowledgement goes to `reply`. At most 1000 messages,
 * and no message id twice. Reuses the memory of `spare` if that is large enough.
 */
export const encodeBatch = (
  entries: readonly { readonly record: OutgoingRecord }[],
  options: {
    readonly batchId: string;
    readonly reply: string;
    readonly spare: Buffer | undefined;
    readonly after?: Sequence | undefined;
  },
): Buffer => {
  const { batchId, reply, spare, after } = options;
  let length = 0;
  for (const { record } of entries) length += bytesMax(record);
  const isEnough = spare !== undefined && spare.buffer.byteLength >= length;
  const bytes = isEnough ? Buffer.from(spare.buffer) : Buffer.allocUnsafeSlow(length);
  const writer = createWriter(bytes, `\r\nNats-Batch-Id: ${batchId}\r\nNats-Batch-Sequence: `);
  let left = entries.length;
  for (const { record } of entries) {
    // The first message carries the expected sequence (NATS ADR-50).
    const expected = left === entries.length ? expecting(after) : "";
    const isLast = --left === 0;
    writer.write(record, isLast ? ` ${reply}` : "", expected + (isLast ? COMMIT_AND_END : HEADERS_END));
  }
  return writer.written();
};

const bytesMax = (record: OutgoingRecord): number =>
  LINE_BYTES_MAX + record.subject.length + payloadBytes(record);

/** An upper bound of everything except subject and payload: HPUB, reply, lengths, headers and line ends, about 250 bytes. */
const LINE_BYTES_MAX = 512;

/** Writes messages one after another. `batch`: the headers of an atomic batch up to its number; empty for none. */
const createWriter = (bytes: Buffer, batch: string) => {
  let end = 0;
  let sequence = 0;
  /** Everything except the event is ASCII: one byte per character. */
  const put = (text: string): void => {
    end += bytes.write(text, end, "latin1");
  };
  /** `replyPart`: with a leading space, or empty. `headersEnd`: the last headers and the empty line. */
  const write = (record: OutgoingRecord, replyPart: string, headersEnd: string): void => {
    const { subject, messageId, start, event } = record;
    const headers = `${HEADER_START}${messageId}${batch === "" ? "" : batch + ++sequence}${headersEnd}`;
    const length = headers.length + payloadBytes(record);
    put(`HPUB ${subject}${replyPart} ${headers.length} ${length}\r\n${headers}${start}`);
    putEvent(event);
    put(MESSAGE_END);
  };
  const putEvent = ({ source, from, to }: EventBytes): void => {
    // A Buffer copies a part without creating a view of it.
    if (Buffer.isBuffer(source)) source.copy(bytes, end, from, to);
    else bytes.set(source.subarray(from, to), end);
    end += to - from;
  };
  return { write, written: () => bytes.subarray(0, end) };
};

/** The header by which the broker stores only if this is the last sequence of the stream. */
const expecting = (after: Sequence | undefined): string =>
  after === undefined ? "" : `\r\nNats-Expected-Last-Sequence: ${after}`;

const HEADERS_END = "\r\n\r\n";
const COMMIT_AND_END = `\r\nNats-Batch-Commit: 1${HEADERS_END}`;
const MESSAGE_END = `${RECORD_END}\r\n`;
