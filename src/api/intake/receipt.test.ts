import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { encodeRecord, recordStart } from "../../log/record.ts";
import { receiptOf, receiptOfPayload } from "./receipt.ts";

const envelope = {
  tenant: "default",
  receivedAt: "2026-11-20T10:00:00.000Z",
  requestId: "019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a10",
};
const start = recordStart(envelope);

test("a receipt is the hash of the record as it is stored, for any length and any place of the event in the body", () => {
  // Lengths around the limit up to which memory is reused, and a short one after a long one.
  for (const payloadLength of [4093, 4094, 4095, 4096, 4097, 9000, 300]) {
    const eventText = `{"note":"${"x".repeat(payloadLength - start.length - '{"note":""}}'.length)}"}`;
    const payload = Buffer.from(encodeRecord({ ...envelope, eventText }));
    expect(payload.length).toBe(payloadLength);
    const body = Buffer.from(` [${eventText}]`);
    for (const event of [
      { source: Buffer.from(eventText), from: 0, to: eventText.length },
      { source: body, from: 2, to: body.length - 1 },
    ]) {
      expect(receiptOf({ subject: "audit.default.x", messageId: "id", start, event })).toBe(
        receiptOfPayload(payload),
      );
    }
  }
});
