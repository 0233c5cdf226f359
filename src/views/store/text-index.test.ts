import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  createRowTerms,
  type Label,
  postgresMatchText,
  postgresTermsText,
  sqliteMatchText,
  sqliteTermsText,
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

const termsText = (
  tenant: string,
  words: readonly string[],
  labels: readonly Label[] = [],
  times: readonly { readonly name: string; readonly time: string }[] = [],
): string => sqliteTermsText(createRowTerms()({ tenant, words, labels, times }));
const labelTerm = (label: Label): string => termsText("acme", [], [label]);
const ACME = termsText("acme", ["a"]).slice(0, 4);
const inSqlite = (
  match: Partial<TextMatch>,
  wordsWith: (beginning: string) => readonly string[] | undefined = () => undefined,
): string => sqliteMatchText({ ...ASKED, ...match }, wordsWith).replaceAll(ACME, "acme");
const inPostgres = (match: Partial<TextMatch>): string =>
  postgresMatchText({ ...ASKED, ...match }).replaceAll(ACME, "acme");

test("a question asks for the terms of the rows, each with what stands for the tenant", () => {
  const labels: readonly Label[] = [["type", "a.b"]];
  const times = [{ name: "at", time: "2026-01-01T05:00:00" }];
  const [word, label, , month] = termsText("acme", ["a"], labels, times).replaceAll(ACME, "acme").split(" ");
  expect([word, month]).toEqual(["acmea", "acme~a202601"]);
  const ranges = [{ name: "at", from: "2026-01-01T00:00:00", to: "2026-02-01T00:00:00" }];
  const match = { words: ["a"], labels, ranges };
  expect(inSqlite(match)).toBe(`"acmea" AND "${label}" AND ("acme~aelsewhere" OR "${month}")`);
  expect(inPostgres(match)).toBe(`'acmea' & '${label}' & ('acme~aelsewhere' | '${month}')`);
  expect(inSqlite({ words: ["a"], without: labels })).toBe(`("acmea") NOT ("${label}")`);
  expect(inPostgres({ words: ["a"], without: labels })).toBe(`'acmea' & !'${label}'`);
  const written = createRowTerms()({ tenant: "acme", words: ["a", "대출"], labels: [], times: [] });
  expect(postgresTermsText(written)).toBe(`${ACME} a 대출`);
});

test("a prefix is searched only among the kinds of words that can begin with it, one by one if they are few", () => {
  for (const [prefix, expected] of [
    ["de", '("acmede" * OR "acme:de" *)'],
    ["d4", '("acme:d4" *)'],
    ["dec_", '("acme_dec_" *)'],
    ["dec_4", '("acme_dec_4" *)'],
  ] as const)
    expect(inSqlite({ prefixes: [prefix] })).toBe(expected);
  const letters = (beginning: string) =>
    beginning.includes(":") ? undefined : [`${beginning}c`, `${beginning}d`];
  expect(inSqlite({ prefixes: ["de"] }, letters)).toBe('(("acmedec" OR "acmeded") OR "acme:de" *)');
});

test("different labels are different short terms, and none is a word", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.constantFrom("=", "~", "a=b", "~61~", "x".repeat(300), "X".repeat(300)),
  );
  const label = fc.tuple(fc.constantFrom("tag", "type"), part, part);
  fc.assert(
    fc.property(label, label, (one, other) => {
      expect(labelTerm(one) === labelTerm(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      expect(labelTerm(one)).toMatch(/^[a-z0-9]{4}=[a-z0-9]{9}$/);
    }),
  );
});

test("text that is not a word is refused, in rows and in queries", () => {
  for (const word of ["a/b", 'a"', "a'", "a*", "a:b", "A", "\0", "-", "(", "\\", "", "a b"]) {
    expect(() => termsText("acme", ["x", word])).toThrow("of ASCII");
    for (const match of [
      { words: [word], prefixes: [] },
      { words: [], prefixes: [word] },
    ]) {
      for (const write of [inSqlite, inPostgres]) expect(() => write(match)).toThrow("of ASCII");
    }
  }
  expect(() => termsText("", ["a"])).toThrow("has a tenant");
});
