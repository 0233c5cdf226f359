import { expect, test } from "bun:test";
import { INTEGER, type Table, TEXT } from "./tables.ts";
import { type QueryParts, tenantCount, tenantQuery } from "./tenant-query.ts";

const THINGS = {
  name: "things",
  columns: { tenant: TEXT, sequence: INTEGER, colour: TEXT },
  primaryKey: ["tenant", "sequence"],
  indexes: [],
} as const satisfies Table;
const MARKS = {
  name: "marks",
  columns: { tenant: TEXT, mark: TEXT, sequence: INTEGER },
  primaryKey: ["tenant", "mark", "sequence"],
  indexes: [],
} as const satisfies Table;

const parts: QueryParts<typeof THINGS> = {
  tenant: "acme",
  table: THINGS,
  columns: ["sequence"],
  where: [],
  order: "asc",
  rowsMax: 10,
};

test("a query cannot be built without a tenant, at compile time nor at run time", () => {
  const { tenant: _tenant, ...rest } = parts;
  // @ts-expect-error the tenant is missing
  expect(() => tenantQuery(rest)).toThrow("a query has a tenant");
  expect(() => tenantQuery({ ...parts, tenant: "" })).toThrow("a query has a tenant");
});

test("every table of a query is held to the tenant, in every combination of conditions", () => {
  const conditions = [
    { kind: "equals", column: "colour", value: "red" },
    { kind: "range", column: "colour", from: "a", to: "b" },
    { kind: "has", table: MARKS, values: { mark: "x" } },
    { kind: "has", table: MARKS, values: { mark: "y" } },
  ] as const;
  for (let chosen = 0; chosen < 1 << conditions.length; chosen++) {
    const where = conditions.filter((_, bit) => chosen & (1 << bit));
    for (const ordered of [where, where.toReversed()]) {
      const { sql, params } = tenantQuery({ ...parts, where: ordered, after: 5 });
      const aliases = [...sql.matchAll(/"(?:things|marks)" (\w+)/g)].map(([, alias]) => alias);
      expect(aliases).toHaveLength(1 + where.filter(({ kind }) => kind === "has").length);
      for (const alias of aliases) expect(sql).toContain(`${alias}."tenant" = ?`);
      expect(params.filter((param) => param === "acme")).toHaveLength(aliases.length);
      expect(sql.split("?")).toHaveLength(params.length + 1);
      expect(sql).not.toContain(" OR ");
    }
  }
});

test("a reading that begins above a sequence has one bound at each end, so that an index begins there", () => {
  const bounds = (order: "asc" | "desc", after: number | undefined): string => {
    const { sql, params } = tenantQuery({ ...parts, order, after, above: 0 });
    const found = [...sql.matchAll(/"sequence" ([<>]) \?/g)].map(([, sign]) => sign);
    return `${found.join("")} ${params.slice(1, -1).join(" ")}`;
  };
  expect([bounds("asc", undefined), bounds("asc", 5), bounds("asc", -5)]).toEqual(["> 0", "> 5", "> 0"]);
  expect([bounds("desc", undefined), bounds("desc", 5)]).toEqual(["> 0", ">< 0 5"]);
});

test("a search for words takes its tenant into what it looks for, and reads first where it stands first", () => {
  const match = { kind: "matches", index: { name: "words" }, words: ["a"], prefixes: ["b"] } as const;
  const colour = { kind: "equals", column: "colour", value: "red" } as const;
  const mark = { kind: "has", table: MARKS, values: { mark: "x" } } as const;
  for (const [where, from] of [
    [[match, mark, colour], '"words" text0 CROSS JOIN "marks" companion0 CROSS JOIN "things" main'],
    [[mark, match], '"marks" companion0 CROSS JOIN "words" text0 CROSS JOIN "things" main'],
    [[colour, match], '"things" main CROSS JOIN "words" text0'],
  ] as const) {
    const { sql, params } = tenantQuery({ ...parts, where, after: 5 });
    expect(sql).toContain(`FROM ${from} WHERE`);
    expect(sql).toContain('text0."words" MATCH ?');
    expect(params).toContainEqual({ tenant: "acme", words: ["a"], prefixes: ["b"] });
    expect(sql.split("?")).toHaveLength(params.length + 1);
  }
  const nothing = { ...match, words: [], prefixes: [] };
  expect(() => tenantQuery({ ...parts, where: [nothing] })).toThrow("at least one word");
  expect(() => tenantCount({ tenant: "acme", table: THINGS, where: [match] })).toThrow(
    "searches by sequence",
  );
});

test("what a client sent is a parameter and never part of the SQL text", () => {
  const hostile = `x' OR "tenant" = 'globex'; --`;
  const { sql, params } = tenantQuery({
    ...parts,
    tenant: hostile,
    where: [
      { kind: "equals", column: "colour", value: hostile },
      { kind: "has", table: MARKS, values: { mark: hostile } },
    ],
  });
  expect(sql).not.toContain("globex");
  expect(params.filter((param) => param === hostile)).toHaveLength(4);
});

test("a name that the table does not have is refused", () => {
  // @ts-expect-error no such column
  expect(() => tenantQuery({ ...parts, columns: ["size"] })).toThrow("no such column");
  // @ts-expect-error no such column
  const where: QueryParts<typeof THINGS>["where"] = [{ kind: "equals", column: "constructor", value: 1 }];
  expect(() => tenantQuery({ ...parts, where })).toThrow("no such column");
});

test("a companion must be named by its whole key, otherwise a row could be found twice", () => {
  const wide = {
    ...MARKS,
    columns: { ...MARKS.columns, grade: TEXT },
    primaryKey: ["tenant", "mark", "grade", "sequence"],
  };
  expect(() =>
    tenantQuery({ ...parts, where: [{ kind: "has", table: wide, values: { mark: "x" } }] }),
  ).toThrow("whole key");
});

test("a page without rows, or a cursor that is no sequence, is refused", () => {
  for (const rowsMax of [0, -1, 1.5, Number.NaN]) expect(() => tenantQuery({ ...parts, rowsMax })).toThrow();
  for (const after of [1.5, Number.NaN]) expect(() => tenantQuery({ ...parts, after })).toThrow();
});
