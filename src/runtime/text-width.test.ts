import { expect, test } from "bun:test";
import fc from "fast-check";
import { textWidth, wrappedLines } from "./text-width.ts";

test("a text without a width limit stays whole, with its leading spaces, even if it is as long as the longest event", () => {
  expect(wrappedLines("  two  words ", Number.POSITIVE_INFINITY)).toEqual(["  two  words "]);
  const text = "a ".repeat(128 * 1024);
  expect(wrappedLines(text, Number.POSITIVE_INFINITY)).toEqual([text]);
});

test("lines have the words of the text, and only a line of one long word is wider than the limit", () => {
  const word = fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => text.replaceAll(/\s/gu, "_"));
  fc.assert(
    fc.property(fc.array(word), fc.integer({ min: 1, max: 20 }), (words, width) => {
      const lines = wrappedLines(words.join(" "), width);
      const told = lines
        .join(" ")
        .split(" ")
        .filter((each) => each !== "");
      expect(told).toEqual(words.filter((each) => each !== ""));
      for (const line of lines) if (textWidth(line) > width) expect(line.trim()).not.toContain(" ");
    }),
  );
});
