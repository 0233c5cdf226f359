import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { Outcome, Sequence } from "./outcome.ts";
import { type LogRecord, recordStart } from "./record.ts";

/** A payload as text in three pieces, of which the first and the last are ASCII. Its bytes are made once, in the buffer of the commit. */
export interface PayloadText {
  readonly start: string;
  readonly text: string;
  readonly end: string;
  readonly bytes: number;
}

export const payloadText = (text: string): PayloadText => ({
  start: "",
  text,
  end: "",
  bytes: Buffer.byteLength(text),
});

/** A record: `start` is recordStart, which all records of a request share. */
export const recordPayload = (envelope: Omit<LogRecord, "eventText">, text: string): PayloadText => {
  const start = recordStart(envelope);
  return { start, text, end: RECORD_END, bytes: recordBytes(start, text) };
};

export const RECORD_END = "}";

export const recordBytes = (start: string, text: string): number =>
  start.length + Buffer.byteLength(text) + RECORD_END.length;

export const wholeText = ({ start, text, end }: PayloadText): string => start + text + end;

export interface OutgoingRecord extends PayloadText {
  readonly tenant: string;
  readonly subject: string;
  /** See messageIdOfEvent. The broker stores one message per id within the duplicate window. */
  readonly messageId: string;
}

export interface StoredMessage {
  readonly sequence: Sequence;
  readonly subject: string;
  readonly payload: Uint8Array;
}

/** Appends records. Returns one outcome per record, in the same order, after the broker has fsynced what it reports. Never throws. */
export interface RecordAppender {
  append(records: readonly OutgoingRecord[]): Promise<readonly Outcome[]>;
}

/** Reads the log. Throws LogUnavailableError if the broker does not answer. */
export interface LogReader {
  read(sequence: Sequence): Promise<StoredMessage | undefined>;
  /** Sequence of the newest message; 0 for an empty log. */
  lastSequence(): Promise<Sequence>;
  /**
   * Messages from `from` on, in order and without a gap, in groups of at most `messagesMax`; waits for new ones. Ends when `signal` is aborted.
   * Throws LogUnavailableError when the connection is lost; call it again from your position.
   */
  follow(options: {
    readonly from: Sequence;
    readonly messagesMax: number;
    /** Size of a group; default: one commit of the projections. */
    readonly bytesMax?: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<readonly StoredMessage[]>;
}

/** The broker did not answer, or answered that it cannot. The outcome is unknown. */
export class LogUnavailableError extends Error {
  override readonly name = "LogUnavailableError";
}

/**
 * Identity for deduplication. The broker trims header values, cannot hold an empty one, and shares one id space between
 * all tenants of a stream, hence a hash that carries the tenant. The kind keeps an `Idempotency-Key` and an
 * `event_id` of the same text apart.
 */
const identify = (kind: "key" | "event" | "client" | "again", tenant: string, id: string): string =>
  hash("sha256", `${kind}\0${tenant}\0${id}`, "base64url");

export const messageIdOfKey = (tenant: string, idempotencyKey: string): string =>
  identify("key", tenant, idempotencyKey);

/** For the sandbox, a tenant that all clients share: the same example from two clients is two events. */
export const messageIdOfClient = (client: string, messageId: string): string =>
  identify("client", client, messageId);

/** Also for the sandbox: of an event that was removed at `sequence` to make room, while the broker still remembers its id. */
export const messageIdAgain = (messageId: string, sequence: Sequence): string =>
  identify("again", messageId, String(sequence));

/** `eventId` in its canonical form (event/formats.ts): a UUID in lower case. */
export const messageIdOfEvent = (tenant: string, eventId: string): string =>
  identify("event", tenant, eventId);
