import { describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import type { OutgoingRecord } from "../log/event-log.ts";
import { encodeBatch, encodeSingle } from "./append-wire.ts";

const few = (name: string) => fc.integer({ min: 0, max: 2 }).map((number) => name.repeat(1 + number));

/** Few different subjects, so that neighbours often share one and often do not. */
const record: fc.Arbitrary<OutgoingRecord> = fc
  .record({
    tenant: fc.constant("a"),
    subject: few("audit.a."),
    messageId: fc.base64String({ minLength: 1, maxLength: 43 }),
    start: fc.constantFrom("", '{"a":1,"event":', '{"b":1,"event":'),
    text: fc.string({ unit: "binary", maxLength: 1200 }),
    end: fc.constantFrom("", "}"),
  })
  .map((parts) => ({ ...parts, bytes: Buffer.byteLength(parts.start + parts.text + parts.end) }));

/** One message in NATS's format (HPUB of the client protocol), built as a text. */
const message = (
  { subject, messageId, start, text, end }: OutgoingRecord,
  { reply, more }: { readonly reply: string; readonly more: string },
) => {
  const headers = `NATS/1.0\r\nNats-Msg-Id: ${messageId}${more}\r\n\r\n`;
  const bytes = Buffer.from(start + text + end);
  const line = `HPUB ${subject}${reply} ${headers.length} ${headers.length + bytes.length}\r\n`;
  return Buffer.concat([Buffer.from(line + headers), bytes, Buffer.from("\r\n")]);
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
