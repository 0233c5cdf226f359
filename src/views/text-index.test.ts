import { expect, test } from "bun:test";
import fc from "fast-check";
import { postgresMatchText, sqliteMatchText, termsText } from "./text-index.ts";

test("each term has its tenant, in rows and in questions", () => {
  expect(termsText("acme", ["a", "dec_42", "대출"])).toBe("acme/a acme/dec_42 acme/대출");
  expect(termsText("acme", [])).toBe("");
  const match = { tenant: "acme", words: ["a"], prefixes: ["대"] };
  expect(sqliteMatchText(match)).toBe('"acme/a" AND "acme/대" *');
  expect(postgresMatchText(match)).toBe("'acme/a' & 'acme/대':*");
});

test("what is no word is refused, in rows and in questions", () => {
  for (const word of ["a/b", 'a"', "a'", "a*", "a:b", "A", "\0", "-", "(", "\\"]) {
    expect(() => termsText("acme", ["x", word])).toThrow("of ASCII");
    for (const match of [
      { words: [word], prefixes: [] },
      { words: [], prefixes: [word] },
    ]) {
      for (const write of [sqliteMatchText, postgresMatchText])
        expect(() => write({ tenant: "acme", ...match })).toThrow("of ASCII");
    }
  }
  for (const word of ["", "a b"]) {
    const match = { tenant: "acme", words: [word], prefixes: [] };
    for (const write of [sqliteMatchText, postgresMatchText]) expect(() => write(match)).toThrow();
  }
  expect(() => termsText("", ["a"])).toThrow("has a tenant");
});

test("different tenants have different terms, whatever they are called", () => {
  const name = fc.string({ unit: "binary", minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(name, name, (one, other) => {
      const [first, second] = [termsText(one, ["a"]), termsText(other, ["a"])];
      expect(first === second).toBe(one === other);
      if (one !== other) expect(first.startsWith(second) || second.startsWith(first)).toBe(false);
      expect(first).toMatch(/^[a-z0-9.-]+\/a$/);
    }),
  );
});
