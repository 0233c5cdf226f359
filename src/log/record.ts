/**
 * The content of one message of the log: `{"tenant":…,"received_at":…,"request_id":…,"event":{…as sent…}}` (DESIGN 4). The event's text is embedded
 * byte for byte, never parsed and written again: numbers beyond doubles, the order of keys and white space stay as the client sent them.
 */
import { eventFacts, readEvent } from "../event/facts.ts";
import { timeKeyOf } from "../event/formats.ts";

export interface LogRecord {
  readonly tenant: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly receivedAt: string;
  readonly requestId: string;
  readonly eventText: string;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const encodeRecord = ({ eventText, ...envelope }: LogRecord): string =>
  `${recordStart(envelope)}${eventText}}`;

/** A client may send its request id in any case; here it has one spelling. */
export const recordStart = ({ tenant, receivedAt, requestId }: Omit<LogRecord, "eventText">): string =>
  `{"tenant":"${tenant}","received_at":"${receivedAt}","request_id":"${requestId.toLowerCase()}","event":`;

/** The members before the event hold no quote, brace or backslash: a slug, a time and a UUID. */
const ENVELOPE =
  /^\{"tenant":"([a-z0-9-]+)","received_at":"([0-9TZ:.-]+)","request_id":"([0-9a-f-]+)","event":\{/;

interface Envelope extends Omit<LogRecord, "eventText"> {
  /** The text of that part, with the brace with which the event begins. */
  readonly head: string;
}

/** Records of one request are consecutive in the log and share this part. */
let lastEnvelope: Envelope | undefined;

const envelopeOf = (text: string): Envelope | undefined => {
  if (lastEnvelope && text.startsWith(lastEnvelope.head)) return lastEnvelope;
  const [head, tenant, receivedAt, requestId] = ENVELOPE.exec(text) ?? [];
  if (!head || !tenant || !receivedAt || !requestId) return undefined;
  lastEnvelope = { head, tenant, receivedAt, requestId };
  return lastEnvelope;
};

/** The record in a payload, or undefined if `encodeRecord` does not write such a payload. */
export const decodeRecord = (payload: Uint8Array): LogRecord | undefined => {
  let text: string;
  try {
    text = decoder.decode(payload);
  } catch {
    return undefined;
  }
  const envelope = text.endsWith("}}") ? envelopeOf(text) : undefined;
  if (envelope === undefined) return undefined;
  const { head, tenant, receivedAt, requestId } = envelope;
  return { tenant, receivedAt, requestId, eventText: text.slice(head.length - 1, -1) };
};

/** The id of the event whose record a message contains, as the views name it; undefined if it is not a record of an event of the tenant. */
export const eventIdOf = (payload: Uint8Array, tenant: string): string | undefined => {
  const record = decodeRecord(payload);
  if (record?.tenant !== tenant) return undefined;
  try {
    return eventFacts(readEvent(record.eventText))?.eventId;
  } catch {
    return undefined;
  }
};

/** Whether the event's own time is at or after `from` and before `to`, both RFC 3339 in UTC. An invalid range contains nothing. */
export const isWithinPeriod = (
  { eventText }: Pick<LogRecord, "eventText">,
  { from, to }: { readonly from: string | null; readonly to: string | null },
): boolean => {
  if (from === null && to === null) return true;
  const at = timeIn(eventText);
  const [first, end] = [from, to].map((bound) => (bound === null ? at : timeKeyOf(bound)));
  if (at === undefined || first === undefined || end === undefined) return false;
  return first <= at && (to === null || at < end);
};

const timeIn = (eventText: string): string | undefined => {
  try {
    const { timestamp }: Readonly<Record<string, unknown>> = Object(JSON.parse(eventText));
    return typeof timestamp === "string" ? timeKeyOf(timestamp) : undefined;
  } catch {
    return undefined;
  }
};
