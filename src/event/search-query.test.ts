import { expect, test } from "bun:test";
import fc from "fast-check";
import { SEARCH_CHARACTERS_MAX, SEARCH_WORDS_MAX } from "../limits.ts";
import { readSearchText } from "./search-query.ts";

test.each([
  ["credit", ["credit"], []],
  [" Credit\tLOAN credit ", ["credit", "loan"], []],
  ["dec_42", ["dec_42"], []],
  ["a.b.c", ["a_b", "b_c"], []],
  ["credit*", [], ["credit"]],
  ["dec_4* x", ["x"], ["dec_4"]],
  ["a.b.cr* - &", ["a_b"], ["b_cr"]],
  ["대출*", ["대출"], []],
  ["대* 심", [], ["대", "심"]],
  ["a.b.a.bc*", ["a_b", "b_a"], ["a_bc"]],
  ["don't", ["don_t"], []],
])("%j asks for %j and %j", (text, words, prefixes) =>
  expect(readSearchText(text)).toEqual({ value: { words, prefixes } }),
);

test.each([
  ["", "1 to 256 characters"],
  ["x".repeat(SEARCH_CHARACTERS_MAX + 1), "1 to 256 characters"],
  [" - & ", "has no word"],
  ['"credit loan"', "without quotation marks"],
  ["“credit”", "without quotation marks"],
  ["*", "end of a word"],
  ["c*", "end of a word"],
  ["*credit", "end of a word"],
  ["cre*dit", "end of a word"],
  ["credit**", "end of a word"],
  ["-*", "end of a word"],
  ["dec_*", "end of a word"],
  ["credit *", "end of a word"],
  ["x ".repeat(SEARCH_WORDS_MAX + 1), "at most 16 words"],
])("%j is refused: %s", (text, expected) => {
  const read = readSearchText(text);
  expect("message" in read && read.message).toContain(expected);
});

test("the order and spacing of words do not change a search, and no text throws", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 8 }), { maxLength: 10 }), (parts) => {
      const read = readSearchText(parts.join(" "));
      expect(readSearchText(parts.toReversed().join("  "))).toEqual(read);
    }),
  );
});
