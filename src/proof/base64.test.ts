import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeBase64, encodeBase64 } from "./base64.ts";

test("base64 is encoded and decoded as in RFC 4648, for any length", () => {
  const long = fc.nat({ max: 40_000 }).map((length) => new Uint8Array(length).fill(251));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), long), (bytes) => {
      const text = encodeBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(decodeBase64(text)).toEqual(bytes);
    }),
  );
});

test("bytes have only one text, and no other text is decoded", () => {
  const text = fc.string({ unit: fc.constantFrom(..."AQgw/+-_= \nzZ09é"), maxLength: 12 });
  fc.assert(
    fc.property(text, (text) => {
      const bytes = decodeBase64(text);
      if (bytes !== undefined) expect(Buffer.from(bytes).toString("base64")).toBe(text);
    }),
    { numRuns: 5000 },
  );
  for (const text of [
    "A",
    "AA",
    "AAA",
    "AA=",
    "AB==",
    "AAB=",
    "AA==\n",
    " AAAA",
    "AA AA",
    "AA-_",
    "AAAA=",
    "é",
  ])
    expect([text, decodeBase64(text)]).toEqual([text, undefined]);
});
