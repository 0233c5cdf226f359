import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkKey, checkRow, storedKey, storedRow } from "./stored-values.ts";
import { INTEGER, NULLABLE_INTEGER, NULLABLE_TEXT, type Table, TEXT, type Value } from "./tables.ts";
import { toStoredText } from "./text.ts";

const TABLE = {
  name: "things",
  columns: { tenant: TEXT, class: TEXT, sequence: INTEGER, note: NULLABLE_TEXT, count: NULLABLE_INTEGER },
  primaryKey: ["class", "tenant"],
  indexes: [],
} as const satisfies Table;

const ROW = { tenant: "acme", class: "k", sequence: 1, note: null, count: null };

test("a row that does not fit its table is refused, and the refusal does not repeat the value", () => {
  expect(() => checkRow(TABLE, ROW)).not.toThrow();
  const { count, ...short } = ROW;
  for (const [wrong, named] of [
    [short, "things.count takes null or integer"],
    [{ ...ROW, extra: "secret" }, "things has other columns than it"],
    [{ ...ROW, class: null }, "things.class takes text"],
    [{ ...ROW, class: 5 }, "things.class takes text"],
    [{ ...ROW, note: 5 }, "things.note takes null or text"],
    [{ ...ROW, sequence: null }, "things.sequence takes integer"],
    [{ ...ROW, sequence: "secret" }, "things.sequence takes integer"],
    [{ ...ROW, sequence: 1.5 }, "things.sequence takes integer"],
    [{ ...ROW, sequence: 2 ** 53 }, "things.sequence takes integer"],
    [{ ...ROW, count: "secret" }, "things.count takes null or integer"],
  ] as const) {
    expect(() => checkRow(TABLE, wrong)).toThrow(named);
    expect(() => checkRow(TABLE, wrong)).toThrow(/^(?!.*secret)/);
    expect(() => storedRow(TABLE, wrong)).toThrow(named);
  }
});

test("a key has exactly the columns of the table's key, in their order", () => {
  const key = { tenant: "acme", class: "k" };
  expect(() => checkKey(TABLE, key)).not.toThrow();
  expect(storedKey(TABLE, key)).toEqual(["k", "acme"]);
  for (const wrong of [ROW, { tenant: "acme" }, { ...key, class: 1 }]) {
    expect(() => checkKey(TABLE, wrong)).toThrow();
    expect(() => storedKey(TABLE, wrong)).toThrow();
  }
});

test("values are added in the table's order, whatever the row's order, as text that a database can store", () => {
  const text = fc.string({ unit: "binary" });
  const rows = fc.record({
    count: fc.option(fc.maxSafeInteger()),
    note: fc.option(text),
    sequence: fc.maxSafeInteger(),
    class: text,
    tenant: text,
  });
  const stored = (value: Value): Value => (typeof value === "string" ? toStoredText(value) : value);
  fc.assert(
    fc.property(rows, (row) => {
      const { tenant, class: kind, sequence, note, count } = row;
      expect(storedRow(TABLE, row)).toEqual([tenant, kind, sequence, note, count].map(stored));
    }),
  );
  expect(storedKey(TABLE, { tenant: "a\0b", class: "\ud800" })).toEqual(["\u001b800", "a\u001b000b"]);
});
