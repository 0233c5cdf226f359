import { expect, test } from "bun:test";
import { INTEGER, type Table, TEXT } from "./tables.ts";
import { type SearchParts, tenantCount, tenantQuery } from "./tenant-query.ts";
import type { TextIndex } from "./text-index.ts";

const THINGS = {
  name: "things",
  columns: { tenant: TEXT, sequence: INTEGER, colour: TEXT },
  primaryKey: ["tenant", "sequence"],
  indexes: [],
} as const satisfies Table;
const WORDS: TextIndex = { name: "words" };

const parts: SearchParts<typeof THINGS> = {
  tenant: "acme",
  table: THINGS,
  columns: ["sequence"],
  where: [],
  order: "asc",
  rowsMax: 10,
};

test("a query without a tenant cannot be built, neither at compile time nor at run time", () => {
  const { tenant: _tenant, ...rest } = parts;
  // @ts-expect-error the tenant is missing
  expect(() => tenantQuery(rest)).toThrow("a query has a tenant");
  expect(() => tenantQuery({ ...parts, tenant: "" })).toThrow("a query has a tenant");
});

test("every table of a query is restricted to the tenant, in every combination of conditions", () => {
  const conditions = [
    { kind: "equals", column: "colour", value: "red" },
    { kind: "within", index: WORDS, column: "colour", from: "a", to: "b" },
    { kind: "labelled", index: WORDS, label: ["mark", "x"] },
    { kind: "labelled", index: WORDS, label: ["mark", "y"] },
    { kind: "matches", index: WORDS, words: ["a"], prefixes: ["b"] },
  ] as const;
  for (let chosen = 0; chosen < 1 << conditions.length; chosen++) {
    const where = conditions.filter((_, bit) => chosen & (1 << bit));
    const query = tenantQuery({ ...parts, where, after: 5 });
    const kinds = where.map(({ kind }) => kind);
    const labels = kinds.filter((kind) => kind === "labelled").length;
    for (const { sql, params } of [query, query.inPostgres]) {
      const tenants = sql.split('main."tenant" = ?').length - 1;
      expect(tenants).toBeGreaterThan(0);
      expect(params.filter((param) => param === "acme")).toHaveLength(tenants);
      expect(sql.split("?")).toHaveLength(params.length + 1);
      expect(sql).not.toContain(" OR ");
    }
    const matches = query.params.filter((param) => typeof param === "object");
    expect(matches).toHaveLength(Number(kinds.some((kind) => kind !== "equals")));
    for (const match of matches) {
      expect(match.tenant).toBe("acme");
      expect(match.labels).toHaveLength(labels);
      expect(match.ranges).toHaveLength(Number(kinds.includes("within")));
    }
  }
});

test("another table named by a condition is restricted to the tenant too", () => {
  const others = { ...THINGS, name: "others" };
  const where = [{ kind: "among", column: "colour", table: others, from: "a", to: "b" }] as const;
  for (const { sql, params } of [
    tenantCount({ tenant: "acme", table: THINGS, where }),
    tenantQuery({ ...parts, where }),
  ]) {
    expect(sql).toContain(
      'main."colour" IN (SELECT DISTINCT other."colour" FROM "others" other WHERE other."tenant" = ? AND',
    );
    expect(params.slice(0, 4)).toEqual(["acme", "acme", "a", "b"]);
  }
});

test("a client's value is a parameter and never part of the SQL text", () => {
  const hostile = `x' OR "tenant" = 'globex'; --`;
  const { sql, params, inPostgres } = tenantQuery({
    ...parts,
    tenant: hostile,
    where: [
      { kind: "equals", column: "colour", value: hostile },
      { kind: "labelled", index: WORDS, label: ["mark", hostile] },
    ],
  });
  for (const each of [sql, inPostgres.sql]) expect(each).not.toContain("globex");
  expect(params.filter((param) => param === hostile)).toHaveLength(2);
});
