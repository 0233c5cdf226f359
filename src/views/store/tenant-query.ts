/**
 * The only way to build a query over views. It requires a tenant, and every table in the SQL text gets its own condition on that tenant, so that no
 * combination of filters can reach the rows of another. Names come from table descriptions and are checked against them; everything that a client
 * sent is a parameter.
 */
import { strict as assert } from "node:assert";
import { type Clause, type Condition, columnIn, equals, mainClauses, type Source } from "./conditions.ts";
import { direction, type SearchParts, type Statement, searchStatements } from "./search-statements.ts";
import { type ColumnOf, columnName, sqlName, type Table } from "./tables.ts";

/** Not exported: nobody else can make a TenantQuery. */
const BUILT: unique symbol = Symbol("built by tenantQuery");

export interface TenantQuery extends Statement {
  readonly [BUILT]: true;
  /** The same query in the words of PostgreSQL. */
  readonly inPostgres: Statement;
}

export const tenantQuery = <Described extends Table>(parts: SearchParts<Described>): TenantQuery => {
  const { tenant, order, rowsMax } = parts;
  assert(typeof tenant === "string" && tenant !== "", "a query has a tenant");
  assert(order === "asc" || order === "desc", "rows come in ascending or descending order");
  assert(Number.isSafeInteger(rowsMax) && rowsMax > 0, "a query asks for at least one row");
  return { [BUILT]: true, ...searchStatements(parts) };
};

export interface ListParts<Described extends Table> {
  readonly tenant: string;
  readonly table: Described;
  readonly columns: readonly ColumnOf<Described>[];
  readonly where: readonly Condition<ColumnOf<Described>>[];
  /** Columns that are never null, the last of them unique within the tenant, so that every row has a definite place. */
  readonly orderBy: readonly ColumnOf<Described>[];
  readonly order: "asc" | "desc";
  /** Values of `orderBy` in the last row of the previous page. */
  readonly after?: readonly (string | number)[] | undefined;
  readonly rowsMax: number;
}

/** Rows of one table in the order of some columns, from where the previous page ended. */
export const tenantList = <Described extends Table>(parts: ListParts<Described>): TenantQuery => {
  const { table, order, orderBy, after, rowsMax } = parts;
  const { source, clauses } = tenantRows(parts);
  assert(Number.isSafeInteger(rowsMax) && rowsMax > 0, "a query asks for at least one row");
  assert(
    orderBy.length > 0 && orderBy.every((name) => table.columns[name]?.nullable !== true),
    "rows have a place",
  );
  const placed = orderBy.map((name) => columnIn(source, name));
  if (after !== undefined) {
    assert(after.length === orderBy.length, "a cursor has a value for each column of the order");
    const marks = after.map(() => "?").join(", ");
    clauses.push({ text: `(${placed.join(", ")}) ${order === "asc" ? ">" : "<"} (${marks})`, params: after });
  }
  const reading = (read: readonly Clause[]): Statement => ({
    sql: [
      `SELECT ${parts.columns.map((name) => columnIn(source, name)).join(", ")}`,
      `FROM ${sqlName(table.name)} ${source.alias}`,
      `WHERE ${read.map(({ text }) => text).join(" AND ")}`,
      `ORDER BY ${placed.map((name) => `${name} ${direction(parts.order)}`).join(", ")} LIMIT ?`,
    ].join(" "),
    params: [...read.flatMap(({ params }) => params), rowsMax],
  });
  const passed = passedOver(parts).map((name) => `${columnIn(source, name)} = ?`);
  const kept = clauses.map((clause) =>
    passed.includes(clause.text) ? { ...clause, text: `+${clause.text}` } : clause,
  );
  return { [BUILT]: true, ...reading(kept), inPostgres: reading(clauses) };
};

/**
 * The columns that have a single value, but whose index is not to be used: the index to use is the last one that begins with such columns and then has
 * the order of the list, so a table names its most selective index last. SQLite does not know the values and would use the narrowest index (measured
 * with 3.54); a plus prevents that. PostgreSQL has statistics.
 */
const passedOver = ({
  table,
  where,
  orderBy,
}: {
  readonly table: Table;
  readonly where: readonly Condition[];
  readonly orderBy: readonly string[];
}): readonly string[] => {
  const equal = where.flatMap((condition) => (condition.kind === "equals" ? [condition.column] : []));
  const order = orderBy.filter((name) => !equal.includes(name));
  const fitting = table.indexes.flatMap(([, ...columns]) => {
    const end = columns.findIndex((name) => !equal.includes(name));
    const isInOrder = order.every((name, place) => columns[end + place] === name);
    return end > 0 && isInOrder ? [columns.slice(0, end)] : [];
  });
  const read = fitting.at(-1) ?? equal;
  return equal.filter((name) => !read.includes(name));
};

export interface TotalsParts<Described extends Table> {
  readonly tenant: string;
  readonly table: Described;
  readonly where: readonly Condition<ColumnOf<Described>>[];
  readonly groupBy: readonly ColumnOf<Described>[];
  /** Each becomes a column of the answer, under its own name. */
  readonly sums: readonly ColumnOf<Described>[];
  readonly counted: Counted<ColumnOf<Described>>;
  readonly rowsMax: number;
}

/** What to sum: `column`; if `by` has one of these values, only some parts of it, which have columns of their own. */
export interface Counted<Name extends string> {
  readonly column: Name;
  readonly by: Name;
  readonly except: readonly { readonly value: string; readonly parts: readonly Name[] }[];
}

/** Sums per group, in the order of the groups. Rows whose count is 0 are left out. */
export const tenantTotals = <Described extends Table>(parts: TotalsParts<Described>): TenantQuery => {
  const { table, groupBy, sums, counted, rowsMax } = parts;
  const { source, clauses } = tenantRows(parts);
  const groups = groupBy.map((name) => columnIn(source, name));
  const count = countIn(source, counted);
  const totals = sums.map((name) => {
    const { text, params } = name === counted.column ? count : { text: columnIn(source, name), params: [] };
    // As an integer of 8 bytes: PostgreSQL's sum of these is a decimal.
    return { text: `CAST(SUM(${text}) AS bigint) AS ${columnName(table, name)}`, params };
  });
  if (counted.except.length > 0) clauses.push({ text: `${count.text} > 0`, params: count.params });
  return plain({
    sql: [
      `SELECT ${[...groups, ...totals.map(({ text }) => text)].join(", ")}`,
      `FROM ${sqlName(table.name)} ${source.alias}`,
      `WHERE ${clauses.map(({ text }) => text).join(" AND ")}`,
      `GROUP BY ${groups.join(", ")} ORDER BY ${groups.join(", ")} LIMIT ?`,
    ].join(" "),
    params: [...[...totals, ...clauses].flatMap(({ params }) => params), rowsMax],
  });
};

const countIn = (source: Source, { column, by, except }: Counted<string>): Clause => {
  const whole = columnIn(source, column);
  if (except.length === 0) return { text: whole, params: [] };
  const sumOf = (names: readonly string[]): string =>
    names.length === 0 ? "0" : names.map((name) => columnIn(source, name)).join(" + ");
  const cases = except.map(({ parts }) => `WHEN ? THEN ${sumOf(parts)}`).join(" ");
  return {
    text: `CASE ${columnIn(source, by)} ${cases} ELSE ${whole} END`,
    params: except.map(({ value }) => value),
  };
};

/** One row with the number of rows, as `count`. */
export const tenantCount = <Described extends Table>(parts: {
  readonly tenant: string;
  readonly table: Described;
  readonly where: readonly Condition<ColumnOf<Described>>[];
}): TenantQuery => {
  const { source, clauses } = tenantRows(parts);
  return plain({
    sql: `SELECT COUNT(*) AS "count" FROM ${sqlName(parts.table.name)} ${source.alias} WHERE ${clauses.map(({ text }) => text).join(" AND ")}`,
    params: clauses.flatMap(({ params }) => params),
  });
};

/** A query of one table is the same for both databases. */
const plain = (statement: Statement): TenantQuery => ({ [BUILT]: true, ...statement, inPostgres: statement });

const tenantRows = <Described extends Table>(parts: {
  readonly tenant: string;
  readonly table: Described;
  readonly where: readonly Condition<ColumnOf<Described>>[];
}): { readonly source: Source; readonly clauses: Clause[] } => {
  const { tenant, table, where } = parts;
  assert(typeof tenant === "string" && tenant !== "", "a query has a tenant");
  assert(
    where.every(({ kind }) => kind !== "labelled" && kind !== "matches" && kind !== "within"),
    "text indexes are for searches by sequence",
  );
  const source = { alias: "main", table };
  return {
    source,
    clauses: [
      equals(source, "tenant", tenant),
      ...where.flatMap((each) => mainClauses(each, source, tenant)),
    ],
  };
};
