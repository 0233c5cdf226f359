import { expect, test } from "bun:test";
import { INTEGER, type Row, type Table, TEXT } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { createOverlay } from "./overlay.ts";

const THINGS = {
  name: "things",
  columns: { key: TEXT, count: INTEGER },
  primaryKey: ["key"],
  indexes: [],
} as const satisfies Table;

const upsert = (row: Row): Write => ({ kind: "upsert", table: THINGS, row });
const remove = (key: string): Write => ({ kind: "delete", table: THINGS, key: { key } });

test("only a row that was looked for and not found is written as new", async () => {
  const overlay = createOverlay({ load: async () => [{ key: "there", count: 1 }] });
  await overlay.fetch(["there", "absent", "again"].map((key) => ({ table: THINGS, key: { key } })));
  overlay.apply(["unasked", "there", "absent", "again"].map((key) => upsert({ key, count: 2 })));
  overlay.apply([upsert({ key: "absent", count: 3 }), remove("again")]);
  overlay.apply([upsert({ key: "again", count: 4 })]);
  expect(overlay.writes()).toEqual([
    upsert({ key: "there", count: 2 }),
    { kind: "insert", table: THINGS, row: { key: "absent", count: 3 } },
    upsert({ key: "again", count: 4 }),
    upsert({ key: "unasked", count: 2 }),
  ]);
});

test("additions to one row become one sum, and the given rows stay unchanged", () => {
  const overlay = createOverlay({ load: async () => [] });
  const COUNTS = {
    name: "counts",
    columns: { tenant: TEXT, one: INTEGER, other: INTEGER },
    primaryKey: ["tenant"],
    indexes: [],
  } as const satisfies Table;
  const rows = [1, 2, 3].map((one) => ({ tenant: "acme", one, other: one === 3 ? -5 : 0 }));
  const add = (row: Row): Write => ({ kind: "add", table: COUNTS, row });
  const given = structuredClone(rows);
  overlay.apply(rows.slice(0, 1).map(add));
  overlay.apply(rows.slice(1).map(add));
  expect(overlay.writes()).toEqual([add({ tenant: "acme", one: 6, other: -5 })]);
  expect(rows).toEqual(given);
});
