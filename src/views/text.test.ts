import { expect, test } from "bun:test";
import fc from "fast-check";
import { fromStoredText, toStoredText } from "./text.ts";

/** Any units of UTF-16, those that need care among them more often than chance would have them. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(0, 0x1b, 0x30, 0xd800, 0xdbff, 0xdc00, 0xdfff),
    ),
  )
  .map((units) => String.fromCharCode(...units));

test("every text comes back, and is stored as one that a database can hold in four bytes a character at the most", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = toStoredText(text);
      expect(fromStoredText(stored)).toBe(text);
      expect(stored.isWellFormed()).toBe(true);
      expect(stored).not.toContain("\0");
      expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(4 * [...text].length);
    }),
    { numRuns: 2000 },
  );
});
