import { expect, test } from "bun:test";
import fc from "fast-check";
import { INTEGER, type Row, type Table, TEXT } from "../views/tables.ts";
import { createKeyMap } from "./key-map.ts";

const COLUMNS = ["tenant", "day", "item"] as const;

const tableOf = (primaryKey: readonly string[]): Table => ({
  name: "things",
  columns: { tenant: TEXT, day: INTEGER, item: TEXT, count: INTEGER },
  primaryKey,
  indexes: [],
});

const anyRow: fc.Arbitrary<Row> = fc.record({
  // `1` is not "1", and an object has a member `__proto__` already.
  tenant: fc.constantFrom("a", "b", "1", "__proto__"),
  day: fc.constantFrom(0, 1, 2),
  item: fc.constantFrom("", "a", "1", "a\0b"),
  count: fc.nat(),
});

test("it knows what a map by the text of the whole key knows, and in the same order", () => {
  fc.assert(
    fc.property(fc.subarray([...COLUMNS], { minLength: 1 }), fc.array(anyRow), anyRow, (key, rows, asked) => {
      const textOf = (row: Row): string => JSON.stringify(key.map((name) => row[name]));
      const sharedOf = (row: Row): string => JSON.stringify(key.slice(0, -1).map((name) => row[name]));
      const simple = new Map<string, { readonly first: Row; times: number }>();
      const made = createKeyMap(tableOf(key), (first) => ({ first, times: 0 }));
      for (const row of rows) {
        const known = simple.get(textOf(row)) ?? { first: row, times: 0 };
        simple.set(textOf(row), known);
        known.times++;
        made.reach(row).times++;
      }
      expect(made.all()).toEqual([...simple.values()]);
      expect(made.get(asked)).toEqual(simple.get(textOf(asked)));
      const beside = [...simple.values()].filter(({ first }) => sharedOf(first) === sharedOf(asked));
      expect(made.beside(asked)).toEqual(beside);
    }),
  );
});

test("two maps of one table have nothing in common", () => {
  const table = tableOf(["tenant"]);
  const row = { tenant: "a" };
  createKeyMap(table, () => 1).reach(row);
  expect(createKeyMap(table, () => 2).get(row)).toBeUndefined();
});

test("a column whose name SQL would not take does not become part of a program", () => {
  const name = "tenant); process.exit(1); (";
  expect(() => createKeyMap(tableOf([name]), () => 1)).toThrow("a name that SQL cannot take");
});
