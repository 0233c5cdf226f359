import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Label,
  labelTerm,
  postgresMatchText,
  rowTerms,
  sqliteMatchText,
  type TextMatch,
} from "./text-index.ts";

const ASKED = {
  index: { name: "words" },
  tenant: "acme",
  words: [],
  prefixes: [],
  labels: [],
  ranges: [],
} satisfies TextMatch;

const termsText = (tenant: string, words: readonly string[]): string =>
  rowTerms({ tenant, words, labels: [], times: [] });
const inSqlite = (match: Partial<TextMatch>): string =>
  sqliteMatchText({ ...ASKED, ...match }, () => undefined);
const inPostgres = (match: Partial<TextMatch>): string => postgresMatchText({ ...ASKED, ...match });

test("each term contains its tenant, in rows and in queries", () => {
  expect(termsText("acme", ["a", "dec_42", "대출"])).toBe("acme/.a acme/_dec_42 acme/.대출");
  expect(termsText("acme", [])).toBe("");
  const match = { words: ["a"], prefixes: ["대"] };
  expect(inSqlite(match)).toBe('"acme/.a" AND ("acme/.대" * OR "acme/:대" *)');
  expect(inPostgres(match)).toBe("'acme/.a' & ('acme/.대':* | 'acme/:대':*)");
});

test("labels and times are terms beside the words, and are searched together with them", () => {
  const labels: readonly Label[] = [
    ["type", "a.b"],
    ["tag", "Te am", "é"],
  ];
  const words = ["a"];
  const times = [{ name: "at", time: "1999-01-01T00:00:00" }];
  expect(rowTerms({ tenant: "acme", words, labels, times })).toBe(
    "acme/.a acme/=type=a.b acme/=tag=~54~e~20~am=~e9~ acme/=at=elsewhere",
  );
  const ranges = [{ name: "at", from: "2026-01-01T00:00:00", to: "2027-01-01T00:00:00" }];
  expect(inSqlite({ labels: labels.slice(0, 1), ranges })).toBe(
    '"acme/=type=a.b" AND ("acme/=at=elsewhere" OR "acme/=at=2026")',
  );
  expect(inPostgres({ labels: labels.slice(0, 1), ranges, without: [["x"]] })).toBe(
    "'acme/=type=a.b' & ('acme/=at=elsewhere' | 'acme/=at=2026') & !'acme/=x'",
  );
});

test("a prefix is searched as the words that begin with it, if these are known", () => {
  const match = { ...ASKED, words: ["x"], prefixes: ["de"] };
  const wordsWith = (beginning: string) => [`${beginning}c`, `${beginning}d`];
  expect(sqliteMatchText(match, wordsWith)).toBe(
    '"acme/.x" AND (("acme/.dec" OR "acme/.ded") OR ("acme/:dec" OR "acme/:ded"))',
  );
  expect(sqliteMatchText(match, () => [])).toBe('"acme/.x" AND ("acme/.de" * OR "acme/:de" *)');
});

test("words of letters are searched one by one, however many ids have the same prefix", () => {
  const wordsWith = (beginning: string) => (beginning.includes(":") ? undefined : [`${beginning}cision`]);
  expect(sqliteMatchText({ ...ASKED, prefixes: ["de"] }, wordsWith)).toBe(
    '(("acme/.decision") OR "acme/:de" *)',
  );
});

test("a prefix is searched only among the kinds of words that can begin with it", () => {
  for (const [prefix, expected] of [
    ["de", '("acme/.de" * OR "acme/:de" *)'],
    ["d4", '("acme/:d4" *)'],
    ["dec_", '("acme/_dec_" *)'],
    ["dec_4", '("acme/_dec_4" *)'],
  ] as const)
    expect(inSqlite({ prefixes: [prefix] })).toBe(expected);
});

test("different labels are different terms of any length, and none is a word or a part of another", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.constantFrom("=", "~", "a=b", "~61~", "x".repeat(300), "X".repeat(300)),
  );
  const label = fc.tuple(fc.constantFrom("tag", "type"), part, part);
  fc.assert(
    fc.property(label, label, (one, other) => {
      const [first, second] = [labelTerm("acme", one), labelTerm("acme", other)];
      expect(first === second).toBe(JSON.stringify(one) === JSON.stringify(other));
      expect(first).toMatch(/^acme\/=[a-z0-9_.:=~-]+$/);
      expect(first.length).toBeLessThanOrEqual(300);
    }),
  );
});

test("text that is not a word is refused, in rows and in queries", () => {
  for (const word of ["a/b", 'a"', "a'", "a*", "a:b", "A", "\0", "-", "(", "\\"]) {
    expect(() => termsText("acme", ["x", word])).toThrow("of ASCII");
    for (const match of [
      { words: [word], prefixes: [] },
      { words: [], prefixes: [word] },
    ]) {
      for (const write of [inSqlite, inPostgres]) expect(() => write(match)).toThrow("of ASCII");
    }
  }
  for (const word of ["", "a b"]) {
    const match = { words: [word], prefixes: [] };
    for (const write of [inSqlite, inPostgres]) expect(() => write(match)).toThrow();
  }
  expect(() => termsText("", ["a"])).toThrow("has a tenant");
});

test("different tenants have different terms, whatever their names are", () => {
  const name = fc.string({ unit: "binary", minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(name, name, (one, other) => {
      const [first, second] = [termsText(one, ["a"]), termsText(other, ["a"])];
      expect(first === second).toBe(one === other);
      if (one !== other) expect(first.startsWith(second) || second.startsWith(first)).toBe(false);
      expect(first).toMatch(/^[a-z0-9.-]+\/\.a$/);
    }),
  );
});
