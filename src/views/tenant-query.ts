/**
 * The only way to build a query over views. It takes a tenant, and every table in the SQL text gets its own condition
 * on that tenant, so no combination of filters can reach the rows of another. Names come from table descriptions
 * and are checked against them; what a client sent is always a parameter.
 */
import { strict as assert } from "node:assert";
import {
  type Clause,
  type Condition,
  columnIn,
  equals,
  mainClauses,
  type QueryParameter,
  type Source,
} from "./conditions.ts";
import { type ColumnOf, columnName, sqlName, type Table } from "./tables.ts";
import { labelTableName, labelTerm, type TextMatch } from "./text-index.ts";

/** Not exported: nobody else can make a TenantQuery. */
const BUILT: unique symbol = Symbol("built by tenantQuery");

export interface TenantQuery extends Statement {
  readonly [BUILT]: true;
  /** The same question for a database that keeps labels in a table, and times only in the rows. */
  readonly byTables: Statement;
}

export interface Statement {
  /** One `?` per parameter, and none elsewhere. ` MATCH ?` takes a TextMatch, and nothing else does. */
  readonly sql: string;
  readonly params: readonly QueryParameter[];
}

export interface QueryParts<Described extends Table> {
  readonly tenant: string;
  readonly table: Described;
  readonly columns: readonly ColumnOf<Described>[];
  readonly where: readonly Condition<ColumnOf<Described>>[];
  /** By sequence. */
  readonly order: "asc" | "desc";
  /** Rows behind this sequence, in the given order. */
  readonly after?: number | undefined;
  /** No row has this sequence or a smaller one. */
  readonly above?: number | undefined;
  /** No row has a greater sequence. */
  readonly upTo?: number | undefined;
  readonly rowsMax: number;
}

export const tenantQuery = <Described extends Table>(parts: QueryParts<Described>): TenantQuery => {
  const { tenant, table, order, rowsMax } = parts;
  assert(typeof tenant === "string" && tenant !== "", "a query has a tenant");
  assert(order === "asc" || order === "desc", "rows come in ascending or descending order");
  assert(Number.isSafeInteger(rowsMax) && rowsMax > 0, "a query asks for at least one row");

  const main = placeOf({ alias: "main", table });
  const places = tablePlaces(parts);
  const match = matchOf(parts);
  // PostgreSQL does not carry the bound of one table over to those beside it, and would read them from their beginning.
  const byTables = statementOf(parts, { main, companions: places, bounded: "all" });
  const { sql, params } =
    match === undefined
      ? byTables
      : statementOf(parts, { main, companions: [textPlace(match)], bounded: "first" });
  return { [BUILT]: true, sql, params, byTables };
};

/**
 * The first of the companions comes first: it holds only rows that match, in the order of the answer. SQLite keeps to the order of a CROSS JOIN
 * (sqlite.org/optoverview.html, "Manual Control Of Query Plans"); PostgreSQL plans by its statistics whatever is written.
 */
const statementOf = <Described extends Table>(
  { tenant, columns, where, order, after, above, upTo, rowsMax }: QueryParts<Described>,
  tables: {
    readonly main: MainPlace;
    readonly companions: readonly Place[];
    readonly bounded: "first" | "all";
  },
): Statement => {
  const { main, companions } = tables;
  const places: readonly Place[] = [...companions, main];
  const [driver = main, ...others] = places;
  const bounded = tables.bounded === "all" ? places : [driver];
  const clauses = [
    ...places.flatMap((place) => place.clauses),
    equals(main.source, "tenant", tenant),
    ...others.map((place) => sameSequence(place, driver)),
    ...where.flatMap((condition) => mainClauses(condition, main.source, tenant)),
    ...bounded.flatMap((place) => boundsOf(place, { order, after, above })),
    ...(upTo === undefined ? [] : bounded.map((place) => notBeyond(place, upTo))),
  ];
  return {
    sql: [
      `SELECT ${columns.map((name) => columnIn(main.source, name)).join(", ")}`,
      `FROM ${places.map(({ from }) => from).join(" CROSS JOIN ")}`,
      `WHERE ${clauses.map(({ text }) => text).join(" AND ")}`,
      `ORDER BY ${driver.sequence} ${order === "asc" ? "ASC" : "DESC"} LIMIT ?`,
    ].join(" "),
    params: [...clauses.flatMap(({ params }) => params), rowsMax],
  };
};

/** Where rows of one sequence stand: the table itself, a table of labels or a text index. */
interface Place {
  readonly from: string;
  readonly sequence: string;
  readonly clauses: readonly Clause[];
}

interface MainPlace extends Place {
  readonly source: Source;
}

const placeOf = (source: Source): MainPlace => ({
  source,
  from: `${sqlName(source.table.name)} ${source.alias}`,
  sequence: columnIn(source, "sequence"),
  clauses: [],
});

/** All that is asked of the text index as one question, or undefined where nothing is. */
const matchOf = ({ tenant, where }: Pick<QueryParts<Table>, "tenant" | "where">): TextMatch | undefined => {
  const words = where.filter((condition) => condition.kind === "matches");
  const labelled = where.filter((condition) => condition.kind === "labelled");
  const ranges = where.filter((condition) => condition.kind === "within");
  const [first, ...others] = [...words, ...labelled, ...ranges].map(({ index }) => index);
  if (first === undefined) return undefined;
  assert(
    words.every((condition) => condition.words.length + condition.prefixes.length > 0),
    "a search looks for at least one word",
  );
  assert(
    others.every((index) => index === first),
    "a query asks one text index",
  );
  return {
    index: first,
    tenant,
    words: words.flatMap((condition) => condition.words),
    prefixes: words.flatMap(({ prefixes }) => prefixes),
    labels: labelled.map(({ label }) => label),
    ranges: ranges.map(({ column, from, to }) => ({ name: column, from, to })),
  };
};

const textPlace = (match: TextMatch): Place => ({
  from: `${sqlName(match.index.name)} text0`,
  sequence: "text0.rowid",
  clauses: [{ text: `text0.${sqlName(match.index.name)} MATCH ?`, params: [match] }],
});

const tablePlaces = ({ tenant, where }: Pick<QueryParts<Table>, "tenant" | "where">): readonly Place[] => {
  const labels = where
    .filter((condition) => condition.kind === "labelled")
    .map(({ index, label }, number) => ({
      from: `${sqlName(labelTableName(index.name))} label${number}`,
      sequence: `label${number}."sequence"`,
      clauses: [{ text: `label${number}."label" = ?`, params: [labelTerm(tenant, label)] }],
    }));
  const match = matchOf({ tenant, where: where.filter((condition) => condition.kind === "matches") });
  return match === undefined ? labels : [...labels, textPlace(match)];
};

export interface ListParts<Described extends Table> {
  readonly tenant: string;
  readonly table: Described;
  readonly columns: readonly ColumnOf<Described>[];
  readonly where: readonly Condition<ColumnOf<Described>>[];
  /** Never null, the last of them unique in the tenant: so every row has its place. */
  readonly orderBy: readonly ColumnOf<Described>[];
  readonly order: "asc" | "desc";
  /** Values of `orderBy` in the last row of the page before. */
  readonly after?: readonly (string | number)[] | undefined;
  readonly rowsMax: number;
}

/** Rows of one table in the order of some columns, from where the page before ended. */
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
  const direction = order === "asc" ? "ASC" : "DESC";
  const reading = (read: readonly Clause[]): Statement => ({
    sql: [
      `SELECT ${parts.columns.map((name) => columnIn(source, name)).join(", ")}`,
      `FROM ${sqlName(table.name)} ${source.alias}`,
      `WHERE ${read.map(({ text }) => text).join(" AND ")}`,
      `ORDER BY ${placed.map((name) => `${name} ${direction}`).join(", ")} LIMIT ?`,
    ].join(" "),
    params: [...read.flatMap(({ params }) => params), rowsMax],
  });
  const passed = passedOver(parts).map((name) => `${columnIn(source, name)} = ?`);
  const inSqlite = clauses.map((clause) =>
    passed.includes(clause.text) ? { ...clause, text: `+${clause.text}` } : clause,
  );
  return { [BUILT]: true, ...reading(inSqlite), byTables: reading(clauses) };
};

/**
 * Columns by whose index the list is not read, though they have one value: it is read by the last index that begins with such columns and then has the
 * order of the list; so a table names the index that leaves the fewest rows last. SQLite knows nothing of the values and would take the narrowest
 * index (measured with 3.54); a plus keeps it from that. PostgreSQL has statistics.
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
  const beginnings = table.indexes.flatMap(([, ...columns]) => {
    const end = columns.findIndex((name) => !equal.includes(name));
    const isInOrder = order.every((name, place) => columns[end + place] === name);
    return end > 0 && isInOrder ? [columns.slice(0, end)] : [];
  });
  const read = beginnings.at(-1);
  return read === undefined ? [] : equal.filter((name) => !read.includes(name));
};

export interface TotalsParts<Described extends Table> {
  readonly tenant: string;
  readonly table: Described;
  readonly where: readonly Condition<ColumnOf<Described>>[];
  readonly groupBy: readonly ColumnOf<Described>[];
  /** Each is a column of the answer, under its own name. */
  readonly sums: readonly ColumnOf<Described>[];
  readonly counted: Counted<ColumnOf<Described>>;
  readonly rowsMax: number;
}

/** What a row counts: what stands in `column`; with one of these values in `by` only some parts of that, which have columns of their own. */
export interface Counted<Name extends string> {
  readonly column: Name;
  readonly by: Name;
  readonly except: readonly { readonly value: string; readonly parts: readonly Name[] }[];
}

/** Sums per group, in the order of the groups. Rows that count nothing are passed over. */
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

/** One row with the number of rows, in `count`. */
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

/** A question that asks one table only reads the same everywhere. */
const plain = (statement: Statement): TenantQuery => ({ [BUILT]: true, ...statement, byTables: statement });

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

/**
 * The plus keeps SQLite from carrying the cursor's bound over to the other table and reading that by the bound, all of it for each row, instead
 * of by the one sequence (measured with 3.54).
 */
const sameSequence = (place: Place, driver: Place): Clause => ({
  text: `${place.sequence} = +${driver.sequence}`,
  params: [],
});

/** One bound at each end at most: of two an index would use only one, and read the rows up to the other. */
const boundsOf = (
  driver: Place,
  { order, after, above }: Pick<QueryParts<Table>, "order" | "after" | "above">,
): readonly Clause[] => {
  if (order === "asc") {
    if (after === undefined && above === undefined) return [];
    const least = Math.max(after ?? Number.MIN_SAFE_INTEGER, above ?? Number.MIN_SAFE_INTEGER);
    return [behind(driver, order, least)];
  }
  return [
    ...(above === undefined ? [] : [behind(driver, "asc", above)]),
    ...(after === undefined ? [] : [behind(driver, order, after)]),
  ];
};

const behind = (driver: Place, order: "asc" | "desc", after: number): Clause => {
  assert(Number.isSafeInteger(after), "a cursor stands at a sequence");
  return { text: `${driver.sequence} ${order === "asc" ? ">" : "<"} ?`, params: [after] };
};

const notBeyond = (driver: Place, upTo: number): Clause => {
  assert(Number.isSafeInteger(upTo), "a reading ends at a sequence");
  return { text: `${driver.sequence} <= ?`, params: [upTo] };
};
