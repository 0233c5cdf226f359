import { expect, test } from "bun:test";
import { POSTGRES } from "./postgres-writes.ts";
import { INTEGER, keyText, NULLABLE_TEXT, type Table, TEXT, tableDdl } from "./tables.ts";

const TABLE = {
  name: "things",
  columns: { tenant: TEXT, key: TEXT, sequence: INTEGER, note: NULLABLE_TEXT },
  primaryKey: ["tenant", "key"],
  indexes: [
    ["tenant", "sequence"],
    ["tenant", "note", "sequence"],
  ],
} as const satisfies Table;

test("a table's description becomes plain SQL, and rows without a value are left out of the index on it", () => {
  expect(tableDdl(TABLE)).toEqual([
    'CREATE TABLE "things" ("tenant" text NOT NULL, "key" text NOT NULL, "sequence" bigint NOT NULL, "note" text, PRIMARY KEY ("tenant", "key"))',
    'CREATE INDEX "things_by_tenant_sequence" ON "things" ("tenant", "sequence")',
    'CREATE INDEX "things_by_tenant_note_sequence" ON "things" ("tenant", "note", "sequence") WHERE "note" IS NOT NULL',
  ]);
});

test("a column after the order column of an index leaves no row out", () => {
  const [, ...indexes] = tableDdl({
    ...TABLE,
    indexes: [
      ["tenant", "key", "note"],
      ["tenant", "note", "key", "sequence"],
    ],
  });
  expect(indexes.map((sql) => sql.replace(/^.* ON "things" /, ""))).toEqual([
    '("tenant", "key", "note")',
    '("tenant", "note", "key", "sequence") WHERE "note" IS NOT NULL',
  ]);
});

test("PostgreSQL indexes no more than an order needs", () => {
  const table = {
    ...TABLE,
    primaryKey: ["tenant", "sequence", "key"],
    indexes: [
      ["tenant", "sequence", "key"],
      ["tenant", "note", "sequence", "key", "colour"],
    ],
    columns: { ...TABLE.columns, colour: TEXT },
  } as const;
  const [, ...indexes] = tableDdl(table, POSTGRES).map((sql) => sql.replace(/^.* "things" /, ""));
  expect(indexes).toEqual([
    '("tenant", "sequence")',
    '("tenant", "note", "sequence") WHERE "note" IS NOT NULL',
  ]);
});

test("a table's description cannot contain SQL", () => {
  const table = { ...TABLE, name: 'things" (x); DROP TABLE "views' };
  expect(() => tableDdl(table)).toThrow();
  expect(() => tableDdl({ ...TABLE, primaryKey: ["nowhere"] })).toThrow("no such column");
});

test("different keys never have the same text", () => {
  const keys = [
    { tenant: "a", key: "b 1:c" },
    { tenant: "a 1:b", key: "c" },
    { tenant: "a", key: "b" },
    { tenant: "ab", key: "" },
    { tenant: "", key: "ab" },
  ];
  expect(new Set(keys.map((key) => keyText(TABLE, key))).size).toBe(keys.length);
});

test("the name of an index always fits, and names that begin alike stay different", () => {
  const name = "things__made_again_beside_those_that_are_shown_now";
  const ddl = tableDdl({
    ...TABLE,
    name,
    indexes: [
      ["tenant", "sequence", "note"],
      ["tenant", "sequence", "key"],
    ],
  });
  const names = ddl.slice(1).map((sql) => /^CREATE INDEX "([^"]+)"/.exec(sql)?.[1] ?? "");
  expect(new Set(names).size).toBe(2);
  for (const each of names) expect([each.length, each.startsWith(`${name}_b`)]).toEqual([63, true]);
});
