import { expect, test } from "bun:test";
import fc from "fast-check";
import { CSV_START, csvRow } from "../../src/http/csv.ts";
import { readCsv } from "./csv-reader.ts";

const DANGEROUS = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"];

const cell = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .tuple(
      fc.constantFrom("", " ", "\u0000", "\uFEFF", '"', "'", "\u200b"),
      fc.constantFrom(...DANGEROUS),
      fc.string(),
    )
    .map((parts) => parts.join("")),
  fc
    .array(fc.constantFrom('"', ",", "\r", "\n", "\r\n", ";", "a", " ", "=", "'"), { maxLength: 12 })
    .map((parts) => parts.join("")),
);

test("what a reader of RFC 4180 gets is what was written, but for an apostrophe before what could be a formula", () => {
  const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 6 }), { maxLength: 5 });
  fc.assert(
    fc.property(table, (rows) => {
      const read = readCsv(rows.map(csvRow).join(""));
      expect(read.map((row) => row.length)).toEqual(rows.map((row) => row.length));
      for (const [index, row] of rows.entries()) {
        for (const [column, text] of row.entries()) {
          const back = read[index]?.[column] ?? "";
          expect([text, `'${text}`]).toContain(back);
          expect(DANGEROUS).not.toContain(back[0] ?? "");
          expect(DANGEROUS).not.toContain(back.trimStart()[0] ?? "");
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test.each(DANGEROUS)("a cell that begins with %j is text, inside its quotes too", (start) => {
  const [[plain = "", quoted = ""] = []] = readCsv(csvRow([`${start}1+1`, `${start}1","x`]));
  expect([plain, quoted]).toEqual([`'${start}1+1`, `'${start}1","x`]);
});

test("where a semicolon parts cells, or spaces are cut off, a cell stays one, and no formula begins inside it", () => {
  expect(csvRow(["a;=1+1", "a\t=1+1", " a", "a "])).toBe('"a;=1+1","a\t=1+1"," a","a "\r\n');
});

test("what is no formula is not changed", () => {
  const cells = ["", "a=b", "2026-11-20T10:00:00Z", "'quoted'", "1-1", '{"a":-1}', "ü 😀", " a "];
  expect(readCsv(csvRow(cells))).toEqual([cells]);
  expect(csvRow(["a", "1-1"])).toBe("a,1-1\r\n");
  expect(new TextEncoder().encode(CSV_START)).toEqual(Uint8Array.of(0xef, 0xbb, 0xbf));
});
