/** What an answer names so that its proof can be asked for later: the hash that the record has as a leaf of its tenant's tree (RFC 6962 §2.1). */
import { type OutgoingRecord, payloadBytes } from "../log/event-log.ts";
import { RECORD_END } from "../log/record.ts";
import { encodeBase64 } from "../proof/base64.ts";
import { leafHash } from "../proof/rfc6962.ts";

/** Base64. */
export const receiptOf = (record: OutgoingRecord): string => {
  const { start, event } = record;
  const { source, from, to } = event;
  // ASCII around the event: one byte per character.
  const payload = Buffer.allocUnsafe(payloadBytes(record));
  payload.write(start, 0, "latin1");
  payload.set(source.subarray(from, to), start.length);
  payload.write(RECORD_END, payload.length - RECORD_END.length, "latin1");
  return receiptOfPayload(payload);
};

export const receiptOfPayload = (payload: Uint8Array): string => encodeBase64(leafHash(payload));
