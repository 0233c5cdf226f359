/** What an answer names so that its proof can be asked for later: the hash that the record has as a leaf of its tenant's tree (RFC 6962 §2.1). */
import { Buffer } from "node:buffer";
import { type OutgoingRecord, payloadBytes } from "../log/event-log.ts";
import { RECORD_END } from "../log/record.ts";
import { leafHashBase64 } from "../proof/rfc6962.ts";

/** Records up to this size are put together in memory that is used again: nothing here waits, so no two calls overlap. */
const KEPT_BYTES = 4096;
const kept = Buffer.allocUnsafeSlow(KEPT_BYTES);

/** Base64. */
export const receiptOf = (record: OutgoingRecord): string => {
  const { start, event } = record;
  const { source, from, to } = event;
  const length = payloadBytes(record);
  const bytes = length > KEPT_BYTES ? Buffer.allocUnsafeSlow(length) : kept;
  // ASCII around the event: one byte per character.
  bytes.write(start, 0, "latin1");
  bytes.set(from === 0 && to === source.length ? source : source.subarray(from, to), start.length);
  bytes.write(RECORD_END, length - RECORD_END.length, "latin1");
  return receiptOfPayload(bytes.subarray(0, length));
};

export const receiptOfPayload = (payload: Uint8Array): string => leafHashBase64(payload);
