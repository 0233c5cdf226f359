import { expect, test } from "bun:test";
import fc from "fast-check";
import { WORD_CHARACTERS_MAX } from "../limits.ts";
import { wantedWords, words } from "./words.ts";

test.each([
  ["", []],
  [" - & \t", []],
  ["Credit MODEL", ["credit", "model"]],
  ["dec_42", ["dec", "42", "dec_42"]],
  ["scorer-7.", ["scorer", "7", "scorer_7"]],
  ["a.b/c d", ["a", "b", "a_b", "c", "b_c", "d"]],
  ["a _ b", ["a", "b"]],
  ["a\u00a0b\u3000c\nd", ["a", "b", "c", "d"]],
  ["대출 심사-거절", ["대출", "출", "심사", "사", "거절", "절"]],
  ["日", ["日"]],
  ["訂单20261128-7x", ["訂单", "单", "20261128", "7x", "20261128_7x"]],
  ["ภาษา", ["ภา", "าษ", "ษา", "า"]],
  ["\u1103\u1162\u110e\u116e\u11af", ["대출", "출"]],
  ["İZMİR ISPARTA ısparta", ["izmir", "isparta", "isparta"]],
  ["ＳＣＯＲＥＲ７", ["scorer7"]],
  ["Straße STRASSE STRAẞE", ["strasse", "strasse", "strasse"]],
  ["ΟΔΟΣ οδός", ["οδοσ", "οδόσ"]],
  ["cafe\u0301 café", ["café", "café"]],
  ["हिन्दी", ["हिन्दी"]],
  ["\ud800a\0b\udc00", ["a", "b", "a_b"]],
  ["O'Brien", ["o", "brien", "o_brien"]],
])("%j has the words %j", (text, expected) => expect(words(text)).toEqual(expected));

test("upper case and lower case give the same word, and the words of a word are that word", () => {
  for (let code = 0; code <= 0x1ffff; code++) {
    const letter = code >= 0xd800 && code <= 0xdfff ? "" : String.fromCodePoint(code);
    const [upper, lower] = [letter.toUpperCase(), letter.toLowerCase()];
    if (upper === lower) continue;
    const found = words(letter);
    expect([letter, words(upper), words(lower)]).toEqual([letter, found, found]);
    expect([letter, words(found.join(" "))]).toEqual([letter, found]);
  }
});

test("a word is cut at a number of characters, whatever their size", () => {
  for (const character of ["a", "𝒜".normalize("NFKC"), "𐐨"]) {
    const [word = ""] = words(character.repeat(WORD_CHARACTERS_MAX + 1));
    expect([...word]).toHaveLength(WORD_CHARACTERS_MAX);
    expect(words(character.repeat(WORD_CHARACTERS_MAX))).toEqual([word]);
  }
});

test("only as many consecutive marks count as a word has characters, because ordering more takes quadratic time", () => {
  for (const [mark, before] of [
    ["\u0301", "\u0316"],
    ["\uff9e", "\u093c"],
  ] as const) {
    const text = `a${mark.repeat(WORD_CHARACTERS_MAX)}`;
    expect(words(`${text}${before} b`)).toEqual([...words(text), "b"]);
    expect(words(text + (mark + before).repeat(60_000))).toEqual(words(text));
  }
});

test.each([
  ["개인정보를 수집", "개인정보"],
  ["審査結果を", "結果"],
  ["审查", "审"],
  ["今日", "日"],
  ["订单20261128", "20261128"],
  ["ｸﾚｼﾞｯﾄ", "クレジット"],
  ["İZMİR", "izmir"],
  ["izmir", "İzmir"],
  ["dec_42", "DEC-42"],
  ["a.b.c", "b.c"],
])("%j is found by %j", (text, asked) => {
  const found = words(text);
  const wanted = wantedWords(asked);
  expect(wanted.words.length + wanted.prefixes.length).toBeGreaterThan(0);
  for (const word of wanted.words) expect(found).toContain(word);
  for (const prefix of wanted.prefixes) expect(found.some((word) => word.startsWith(prefix))).toBe(true);
});

test.each([
  ["dec_42", false, ["dec_42"], []],
  ["a.b.c d e-f", false, ["a_b", "b_c", "d", "e_f"], []],
  ["a b", false, ["a", "b"], []],
  ["", false, [], []],
  ["a.bc", true, [], ["a_bc"]],
  ["개인정", false, ["개인", "인정"], []],
  ["정", false, [], ["정"]],
])("%j, open: %p, wants %j and %j", (text, isOpen, found, prefixes) =>
  expect(wantedWords(text, isOpen)).toEqual({ words: found, prefixes }),
);

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom(
        "a",
        "B",
        "7",
        "_",
        "-",
        " ",
        "\t",
        "가",
        "漢",
        "ß",
        "\u0301",
        "\0",
        "*",
        '"',
        "'",
        "/",
      ),
      { maxLength: 30 },
    )
    .map((characters) => characters.join("")),
);

test("words consist of letters, digits and marks, and pairs of two words, for any text in any Unicode form", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const found = words(text);
      for (const [index, word] of found.entries()) {
        expect(word).toMatch(/^[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(_[\p{L}\p{N}][\p{L}\p{N}\p{M}]*)?$/u);
        if (word.includes("_")) expect(word.endsWith(`_${found[index - 1]}`)).toBe(true);
      }
      expect(words(text.normalize("NFD"))).toEqual(words(text.normalize("NFC")));
    }),
    { numRuns: 1000 },
  );
});

test("the short way through ASCII gives the same as the long way", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
      expect([...words(text), "é"]).toEqual([...words(`${text} é`)]);
    }),
    { numRuns: 1000 },
  );
});

test("a text is found by each of its words", () => {
  const letters = fc.string({
    unit: fc.constantFrom("a", "Z", "9", "가", "é", "ß", "Ⅷ"),
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1 }), fc.constantFrom(" ", "_", "-"), (parts, separator) => {
      const found = words(parts.join(separator));
      for (const part of parts) expect(found).toContain(words(part)[0] ?? "");
    }),
  );
});
