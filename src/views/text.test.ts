import { expect, test } from "bun:test";
import fc from "fast-check";
import { isEventId } from "../event/formats.ts";
import { fromStoredText, toStoredText } from "./text.ts";

/** Any UTF-16 units, with the difficult ones often. */
const anyText = fc
  .array(
    fc.oneof(
      fc.nat(0xffff),
      fc.constantFrom(0, 0x1b, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0x30, 0x61),
      fc.nat(0x7f),
    ),
  )
  .map((units) => String.fromCharCode(...units));

test("every text comes back as it was, and what is stored fits any database, in four bytes a character at the most", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = toStoredText(text);
      expect(fromStoredText(stored)).toBe(text);
      expect(stored.isWellFormed()).toBe(true);
      expect(stored).not.toContain("\0");
      expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(4 * [...text].length);
    }),
    { numRuns: 1000 },
  );
});

test("the text of a JSON document is stored as it is", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(text.isWellFormed());
      expect(toStoredText(text)).toBe(text);
    }),
  );
});

test("an event_id is stored as it is, so that what was told of duties is found again, however other texts are written", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const id = `evt_${text}`;
      expect(!isEventId(id, ["evt_"]) || toStoredText(id) === id).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
