import { expect, test } from "bun:test";
import fc from "fast-check";
import { isEventId } from "../../event/formats.ts";
import { fromStoredText, toStoredText } from "./tables.ts";

/** Any UTF-16 units, often the difficult ones. */
const anyText = fc
  .array(
    fc.oneof(
      fc.nat(0xffff),
      fc.constantFrom(0, 0x1b, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0x30, 0x61),
      fc.nat(0x7f),
    ),
  )
  .map((units) => String.fromCharCode(...units));

test("every text is read back unchanged, and its stored form fits any database with at most four bytes per character", () => {
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

test("the text of a JSON document is stored unchanged", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(text.isWellFormed());
      expect(toStoredText(text)).toBe(text);
    }),
  );
});

test("an event_id is stored unchanged, so that announcements are found again even if other texts are stored differently", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const id = `evt_${text}`;
      expect(!isEventId(id, ["evt_"]) || toStoredText(id) === id).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
