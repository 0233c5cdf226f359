import { expect, test } from "bun:test";
import fc from "fast-check";
import { inspect } from "../../intake/json/inspect.ts";
import { createJsonBeginning } from "./json-beginning.ts";

const canGoOn = (text: string): boolean => {
  const beginning = createJsonBeginning();
  return text.split("\n").every((line) => beginning.take(line));
};

test("lines can begin a value if the grammar breaks only at their end", () => {
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("{", "}", "[", "]", ",", ":", "\n", " ", '"a"', "1", "null") },
    fc.constantFrom("\r", "\t", "\u00a0", '"', '"\\', '"\\u00e', "-", "01", "1.", "1e5", "tru", "é"),
    fc.json(),
    fc.json().map((text) => JSON.stringify(JSON.parse(text), null, 1)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = `${pieces.join("")}\n`;
      const found = inspect(text);
      expect(canGoOn(text)).toBe(found.kind === "valid" || found.offset === text.length);
    }),
    { numRuns: 2000 },
  );
});

test("the first lines of a value, however many, are recognised as its beginning", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const lines = JSON.stringify(JSON.parse(json), null, 1).split("\n");
      for (const end of lines.keys()) expect(canGoOn(lines.slice(0, end + 1).join("\n"))).toBe(true);
    }),
  );
});
