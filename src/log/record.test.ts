import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeRecord, encodeRecord, type LogRecord } from "./record.ts";

const encoder = new TextEncoder();
const REQUEST = "0198c0de-0000-7000-8000-000000000000";

const records: fc.Arbitrary<readonly LogRecord[]> = fc.array(
  fc.record({
    tenant: fc.constantFrom("acme", "acme-2"),
    receivedAt: fc.constantFrom("2026-11-20T10:00:00.000Z", "2026-11-20T10:00:00.001Z"),
    requestId: fc.constantFrom(REQUEST, REQUEST.replace("7000", "7001")),
    eventText: fc
      .dictionary(fc.string(), fc.string({ unit: "grapheme" }))
      .map((event) => JSON.stringify(event)),
  }),
  { maxLength: 8 },
);

test("consecutive records are each decoded to what was encoded", () => {
  fc.assert(
    fc.property(records, (given) => {
      const payloads = given.map((record) => encoder.encode(encodeRecord(record)));
      expect(payloads.map(decodeRecord)).toEqual([...given]);
    }),
  );
});

test("a broken record that begins like the previous one is not decoded", () => {
  const record = { tenant: "acme", receivedAt: "2026-11-20T10:00:00.000Z", requestId: REQUEST };
  const whole = encodeRecord({ ...record, eventText: '{"n":1}' });
  for (const broken of [whole.slice(0, -1), whole.replace('{"n":1}', "1"), whole.replace('{"n":1}', "[{}")]) {
    expect(decodeRecord(encoder.encode(whole))?.eventText).toBe('{"n":1}');
    expect(decodeRecord(encoder.encode(broken))).toBeUndefined();
  }
});
