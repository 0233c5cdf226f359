import { expect, test } from "bun:test";
import fc from "fast-check";
import { CSV_START, csvRow } from "../../src/api/http/csv.ts";
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

test("a reader of RFC 4180 gets what was written, except for an apostrophe before a possible formula", () => {
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

test("for readers that split at semicolons or trim spaces, a cell stays one cell, and no formula begins inside it", () => {
  expect(csvRow(["a;=1+1", "a\t=1+1", " a", "a "])).toBe('"a;=1+1","a\t=1+1"," a","a "\r\n');
});

test("a cell that is not a formula is not changed", () => {
  const cells = ["", "a=b", "2026-11-20T10:00:00Z", "'quoted'", "1-1", '{"a":-1}', "ü 😀", " a "];
  expect(readCsv(csvRow(cells))).toEqual([cells]);
  expect(csvRow(["a", "1-1"])).toBe("a,1-1\r\n");
  expect(new TextEncoder().encode(CSV_START)).toEqual(Uint8Array.of(0xef, 0xbb, 0xbf));
});
