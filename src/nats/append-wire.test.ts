import { describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import type { OutgoingRecord } from "../log/event-log.ts";
import { encodeBatch, encodeSingle } from "./append-wire.ts";

const few = (name: string) => fc.integer({ min: 0, max: 2 }).map((number) => name.repeat(1 + number));

/** Few different subjects and beginnings, so that neighbours often share one and often do not. */
const record: fc.Arbitrary<OutgoingRecord> = fc
  .record({
    subject: few("audit.a."),
    messageId: fc.base64String({ minLength: 1, maxLength: 43 }),
    start: few('{"tenant":"acme",'),
    text: fc.string({ unit: "binary", maxLength: 1200 }),
    before: fc.string({ maxLength: 3 }),
    after: fc.string({ maxLength: 3 }),
    isBuffer: fc.boolean(),
  })
  .map(({ subject, messageId, start, text, before, after, isBuffer }) => {
    const bytes = Buffer.from(before + text + after);
    const source = isBuffer ? bytes : new Uint8Array(bytes);
    const from = Buffer.byteLength(before);
    return { subject, messageId, start, event: { source, from, to: from + Buffer.byteLength(text) } };
  });

/** One message in NATS's format (HPUB of the client protocol), built as a text. */
const message = (
  { subject, messageId, start, event }: OutgoingRecord,
  { reply, more }: { readonly reply: string; readonly more: string },
) => {
  const headers = `NATS/1.0\r\nNats-Msg-Id: ${messageId}${more}\r\n\r\n`;
  const payload = Buffer.concat([
    Buffer.from(start),
    event.source.subarray(event.from, event.to),
    Buffer.from("}"),
  ]);
  const line = `HPUB ${subject}${reply} ${headers.length} ${headers.length + payload.length}\r\n`;
  return Buffer.concat([Buffer.from(line + headers), payload, Buffer.from("\r\n")]);
};

describe("what goes over the wire", () => {
  test("is a single message for a single record", () => {
    fc.assert(
      fc.property(record, (some) => {
        expect(Buffer.from(encodeSingle(some, "_INBOX.a.1"))).toEqual(
          message(some, { reply: " _INBOX.a.1", more: "" }),
        );
      }),
    );
  });

  test("is a batch of numbered messages, and the last one commits and asks for the answer", () => {
    let spare: Buffer | undefined;
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 12 }), (records) => {
        const entries = records.map((each) => ({ record: each }));
        // It reuses the memory of the previous batch, of which nothing may be left.
        const bytes = encodeBatch(entries, { batchId: "b-7", reply: "_INBOX.a.2", spare });
        spare = bytes;
        const expected = records.map((each, index) => {
          const isLast = index === records.length - 1;
          const commit = isLast ? "\r\nNats-Batch-Commit: 1" : "";
          const more = `\r\nNats-Batch-Id: b-7\r\nNats-Batch-Sequence: ${index + 1}${commit}`;
          return message(each, { reply: isLast ? " _INBOX.a.2" : "", more });
        });
        expect(bytes).toEqual(Buffer.concat(expected));
      }),
    );
  });
});
