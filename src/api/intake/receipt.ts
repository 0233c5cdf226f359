/**
 * The receipt of an answer, by which its proof can be requested later: the hash of the record as a leaf of its tenant's tree (RFC 6962
 * §2.1).
 */
import { Buffer } from "node:buffer";
import { type OutgoingRecord, payloadBytes } from "../../log/event-log.ts";
import { RECORD_END } from "../../log/record.ts";
import { leafHashBase64, leafHashBase64InPlace } from "../../proof/rfc6962.ts";

/** Records below this size are assembled in reused memory. Nothing here awaits, so no two calls overlap. */
const KEPT_BYTES = 4096;
const kept = Buffer.allocUnsafeSlow(KEPT_BYTES);
/** Left free before the record for the prefix of the hash, so that a record is copied only once. */
const PREFIX_BYTES = 1;

/** Base64. */
export const receiptOf = (record: OutgoingRecord): string => {
  const { start, event } = record;
  const { source, from, to } = event;
  const length = PREFIX_BYTES + payloadBytes(record);
  const bytes = length > KEPT_BYTES ? Buffer.allocUnsafeSlow(length) : kept;
  // ASCII around the event: one byte per character.
  const eventStart = PREFIX_BYTES + bytes.write(start, PREFIX_BYTES, "latin1");
  bytes.set(from === 0 && to === source.length ? source : source.subarray(from, to), eventStart);
  const end = eventStart + to - from;
  for (let index = 0; index < RECORD_END.length; index++) bytes[end + index] = RECORD_END.charCodeAt(index);
  return leafHashBase64InPlace(bytes.subarray(0, length));
};

export const receiptOfPayload = (payload: Uint8Array): string => leafHashBase64(payload);
