/**
 * The only way to build a query over views. It requires a tenant, and every table in the SQL text gets its own condition on that tenant, so that no
 * combination of filters can reach the rows of another. Names come from table descriptions and are checked against them; everything that a client
 * sent is a parameter.
 */
import { strict as assert } from "node:assert";
import {
  type Clause,
  type Condition,
  columnIn,
  columnsIn,
  equals,
  mainClauses,
  type QueryParameter,
  type Source,
} from "./conditions.ts";
import { type ColumnOf, columnName, sqlName, type Table } from "./tables.ts";
import { postgresVector, STRETCH_BITS, STRETCH_TERM_START, type TextMatch } from "./text-index.ts";

export interface Statement {
  /** One `?` per parameter, and none elsewhere. ` MATCH ?` takes a TextMatch, as does `?::tsquery` in `inPostgres`, and nothing else does. */
  readonly sql: string;
  readonly params: readonly QueryParameter[];
}

/** Not exported: nobody else can make a TenantQuery. */
const BUILT: unique symbol = Symbol("built by tenantQuery");

export interface TenantQuery extends Statement {
  readonly [BUILT]: true;
  /** The same query in the words of PostgreSQL. */
  readonly inPostgres: Statement;
}

interface RowParts<Described extends Table> {
  readonly tenant: string;
  readonly table: Described;
  readonly where: readonly Condition<ColumnOf<Described>>[];
}

interface PageParts<Described extends Table> extends RowParts<Described> {
  readonly columns: readonly ColumnOf<Described>[];
  readonly order: "asc" | "desc";
  readonly rowsMax: number;
}

/** Ordered by sequence. */
export interface SearchParts<Described extends Table> extends PageParts<Described>, SearchBounds {}

/** Rows of one table by sequence, and beside it the text index that holds words, labels and times of the same sequences. */
export const tenantQuery = <Described extends Table>(parts: SearchParts<Described>): TenantQuery => {
  const { table, columns, order } = parts;
  const { source, clauses } = tenantRows(parts);
  const sequence = columnIn(source, "sequence");
  const match = matchOf(parts);
  const page = pageOf(parts, columnsIn(source, columns));
  const main = `${sqlName(table.name)} main`;
  if (match === undefined) return built(page(main, [...clauses, ...boundsOf(sequence, parts)], [sequence]));
  const index = sqlName(match.index.name);
  const found: readonly Clause[] = [
    { text: `text0.${index} MATCH ?`, params: [match] },
    // The plus keeps SQLite from applying the cursor's bound to the table, and reading that by the bound for each row (measured with 3.54).
    { text: `${sequence} = +text0.rowid`, params: [] },
  ];
  // SQLite keeps to the order of a CROSS JOIN (sqlite.org/optoverview.html, "Manual Control Of Query Plans"); FTS5 gives the order of the answer.
  const inSqlite = page(
    `${index} text0 CROSS JOIN ${main}`,
    [...found, ...clauses, ...boundsOf("text0.rowid", parts)],
    ["text0.rowid"],
  );
  const read = { match, from: main, own: clauses, direction: direction(order) };
  return built(inSqlite, searchInPostgres(parts, read));
};

export interface ListParts<Described extends Table> extends PageParts<Described> {
  /** Columns that are never null, the last of them unique within the tenant, so that every row has a definite place. */
  readonly orderBy: readonly ColumnOf<Described>[];
  /** Values of `orderBy` in the last row of the previous page. */
  readonly after?: readonly (string | number)[] | undefined;
}

/** Rows of one table in the order of some columns, from where the previous page ended. */
export const tenantList = <Described extends Table>(parts: ListParts<Described>): TenantQuery => {
  const { table, order, orderBy, after } = parts;
  const { source, clauses } = tenantRows(withoutText(parts));
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
  const passed = passedOver(parts).map((name) => equals(source, name, "").text);
  const kept = clauses.map(({ text, params }) => ({
    text: passed.includes(text) ? `+${text}` : text,
    params,
  }));
  const page = pageOf(parts, columnsIn(source, parts.columns));
  const main = `${sqlName(table.name)} main`;
  return built(page(main, kept, placed), page(main, clauses, placed));
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

export interface TotalsParts<Described extends Table> extends RowParts<Described> {
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
  const { source, clauses } = tenantRows(withoutText(parts));
  const groups = groupBy.map((name) => columnIn(source, name));
  const count = countIn(source, counted);
  const totals = sums.map((name) => {
    const { text, params } = name === counted.column ? count : { text: columnIn(source, name), params: [] };
    // As an integer of 8 bytes: PostgreSQL's sum of these is a decimal.
    return { text: `CAST(SUM(${text}) AS bigint) AS ${columnName(table, name)}`, params };
  });
  if (counted.except.length > 0) clauses.push({ text: `${count.text} > 0`, params: count.params });
  const selected = [...groups, ...totals.map(({ text }) => text)].join(", ");
  return built({
    sql: `SELECT ${selected} FROM ${sqlName(table.name)} main WHERE ${textOf(clauses)} GROUP BY ${groups.join(", ")} ORDER BY ${groups.join(", ")} LIMIT ?`,
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
export const tenantCount = <Described extends Table>(parts: RowParts<Described>): TenantQuery => {
  const { clauses } = tenantRows(withoutText(parts));
  return built({
    sql: `SELECT COUNT(*) AS "count" FROM ${sqlName(parts.table.name)} main WHERE ${textOf(clauses)}`,
    params: clauses.flatMap(({ params }) => params),
  });
};

/** A query without a text index is mostly the same for both databases. */
const built = (statement: Statement, inPostgres = statement): TenantQuery => ({
  [BUILT]: true,
  ...statement,
  inPostgres,
});

const tenantRows = <Described extends Table>({ tenant, table, where }: RowParts<Described>) => {
  assert(typeof tenant === "string" && tenant !== "", "a query has a tenant");
  const source: Source = { alias: "main", table };
  const clauses: Clause[] = [
    equals(source, "tenant", tenant),
    ...where.flatMap((each) => mainClauses(each, source, tenant)),
  ];
  return { source, clauses };
};

const withoutText = <Parts extends { readonly where: readonly Condition[] }>(parts: Parts): Parts => {
  assert(
    parts.where.every(({ kind }) => kind !== "labelled" && kind !== "matches" && kind !== "within"),
    "text indexes are for searches by sequence",
  );
  return parts;
};

const textOf = (clauses: readonly Clause[]): string => clauses.map(({ text }) => text).join(" AND ");

const direction = (order: "asc" | "desc"): string => (order === "asc" ? "ASC" : "DESC");

const pageOf =
  ({ order, rowsMax }: Pick<PageParts<Table>, "order" | "rowsMax">, selected: string) =>
  (from: string, clauses: readonly Clause[], placed: readonly string[]): Statement => {
    assert(order === "asc" || order === "desc", "rows come in ascending or descending order");
    assert(Number.isSafeInteger(rowsMax) && rowsMax > 0, "a query asks for at least one row");
    const places = placed.map((name) => `${name} ${direction(order)}`).join(", ");
    return {
      sql: `SELECT ${selected} FROM ${from} WHERE ${textOf(clauses)} ORDER BY ${places} LIMIT ?`,
      params: [...clauses.flatMap(({ params }) => params), rowsMax],
    };
  };

/** At most one bound below: with two, an index would use only one, and read the rows up to the other. */
const boundsOf = (
  sequence: string,
  { order, after, above, upTo }: SearchBounds & Pick<PageParts<Table>, "order">,
): readonly Clause[] => {
  const bound = (sign: string, value: number | undefined): readonly Clause[] => {
    if (value === undefined) return [];
    assert(Number.isSafeInteger(value), "a search is bounded by sequences");
    return [{ text: `${sequence} ${sign} ?`, params: [value] }];
  };
  const below = [above, order === "asc" ? after : undefined].filter((value) => value !== undefined);
  return [
    ...bound(">", below.length === 0 ? undefined : Math.max(...below)),
    ...bound("<", order === "desc" ? after : undefined),
    ...bound("<=", upTo),
  ];
};

interface SearchBounds {
  /** Rows after this sequence, in the given order. */
  readonly after?: number | undefined;
  /** No row has this sequence or a smaller one. */
  readonly above?: number | undefined;
  /** No row has a greater sequence. */
  readonly upTo?: number | undefined;
}

interface Search extends SearchBounds {
  readonly tenant: string;
  readonly table: Table;
  readonly columns: readonly string[];
  readonly where: readonly Condition[];
  readonly order: "asc" | "desc";
  readonly rowsMax: number;
}

/** All conditions on the text index as one query, or undefined if there are none. */
const matchOf = ({ tenant, where }: Pick<Search, "tenant" | "where">): TextMatch | undefined => {
  const words = where.filter((condition) => condition.kind === "matches");
  const labelled = where.filter((condition) => condition.kind === "labelled");
  const ranges = where.filter((condition) => condition.kind === "within");
  const without = where.filter((condition) => condition.kind === "not_labelled");
  const [first, ...others] = [...words, ...labelled, ...ranges, ...without].map(({ index }) => index);
  if (first === undefined) return undefined;
  assert(
    words.every((condition) => condition.words.length + condition.prefixes.length > 0),
    "a search looks for at least one word",
  );
  assert(
    without.length <= others.length,
    "a text index finds what has some label, word or time, and then leaves out",
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
    ...(without.length > 0 && { without: without.map(({ label }) => label) }),
  };
};

/**
 * In PostgreSQL a GIN index has no order: it would gather every matching row before sorting. So the end of the log where the answer begins is searched in
 * short stretches, each of which is a term beside the others; this serves frequent words. Then the rest is searched at once, in which few matches are
 * left. Nothing after the stretch that fills the page is read: a nested loop takes the stretches in order, and CTEs keep a plan from running parts of
 * itself in parallel. Each row is fetched by itself (LATERAL, kept apart by OFFSET): without statistics PostgreSQL would compare all rows of the tenant
 * with each sequence.
 */
const searchInPostgres = (
  search: Search,
  read: {
    readonly match: TextMatch;
    readonly from: string;
    readonly own: readonly Clause[];
    readonly direction: string;
  },
): Statement => {
  const { table, columns, order, rowsMax } = search;
  const { match, from, own, direction } = read;
  const index = sqlName(match.index.name);
  const names = columns.map((name) => columnName(table, name));
  const { least, greatest } = endsOf(search);
  const { numbers, isBeyond, reachesBeyond } = stretchesOf(order);
  const row = `SELECT ${names.map((name) => `main.${name}`).join(", ")} FROM ${from} WHERE ${own.map(({ text }) => text).join(" AND ")} AND main."sequence" = met."sequence" OFFSET 0`;
  const page = (question: string, where: string): string =>
    [
      `(WITH met AS MATERIALIZED (SELECT text0.rowid AS "sequence" FROM ${index} text0 WHERE ${postgresVector("text0.")} @@ (${question}))`,
      `SELECT met."sequence" AS place, main.* FROM (SELECT "sequence" FROM met WHERE "sequence" BETWEEN ends.least AND ends.greatest${where}`,
      `ORDER BY "sequence" ${direction}) met CROSS JOIN LATERAL (${row}) main`,
      `ORDER BY met."sequence" ${direction} LIMIT ?) page`,
    ].join(" ");
  // One query: with two, the index would read everything that matches the first before it looks at the second (measured with 18).
  const near = page(`?::tsquery && ('''${STRETCH_TERM_START}' || stretch.number || '''')::tsquery`, "");
  // Not a constant: by its statistics PostgreSQL would find a frequent word sooner without the index, which is mostly wrong.
  const far = page("SELECT ?::tsquery", ` AND ${isBeyond}`);
  const asked = [match, ...own.flatMap(({ params }) => params), rowsMax];
  return {
    sql: [
      `WITH ends AS MATERIALIZED (SELECT GREATEST((SELECT MIN(rowid) FROM ${index}), ${least.text}) AS least,`,
      `LEAST((SELECT MAX(rowid) FROM ${index}), ${greatest.text}) AS greatest)`,
      `SELECT ${names.join(", ")} FROM (`,
      `(SELECT page.* FROM ends CROSS JOIN ${numbers} AS stretch (number) CROSS JOIN LATERAL ${near})`,
      `UNION ALL (SELECT page.* FROM (SELECT * FROM ends WHERE ${reachesBeyond}) ends CROSS JOIN LATERAL ${far}) LIMIT ?`,
      `) found ORDER BY place ${direction}`,
    ].join(" "),
    params: [...least.params, ...greatest.params, ...asked, ...asked, rowsMax],
  };
};

/** The numbers of the short stretches in the order of the answer, and the conditions for sequences beyond all of them. */
const stretchesOf = (order: "asc" | "desc") => {
  const [first, last, step, sooner, isBehind] =
    order === "desc" ? ["greatest", "least", -1, "GREATEST", "<="] : ["least", "greatest", 1, "LEAST", ">="];
  const numberOf = (sequence: string): string => `(${sequence} >> ${STRETCH_BITS})`;
  const behind = `${numberOf(`ends.${first}`)} + ${step * STRETCHES}`;
  const end = `${sooner}(${behind} - ${step}, ${numberOf(`ends.${last}`)})`;
  return {
    numbers: `generate_series(${numberOf(`ends.${first}`)}, ${end}, ${step})`,
    isBeyond: `${numberOf('"sequence"')} ${isBehind} ${behind}`,
    reachesBeyond: `${numberOf(`ends.${last}`)} ${isBehind} ${behind}`,
  };
};

/** This many stretches are searched: the 65,536 sequences, or a little less, where the answer begins. */
const STRETCHES = 8;

/** The smallest and the greatest sequence that may be found. GREATEST and LEAST ignore NULL. */
const endsOf = ({ order, after, above, upTo }: Search) => {
  const bounds = (...given: readonly (number | undefined)[]): Clause => {
    const params = given.filter((sequence) => sequence !== undefined);
    assert(params.every(Number.isSafeInteger), "a search is bounded by sequences");
    return { text: ["NULL::bigint", ...params.map(() => "?::bigint")].join(", "), params };
  };
  const nextTo = (sequence: number | undefined, step: 1 | -1): number | undefined =>
    sequence === undefined ? undefined : sequence + step;
  return order === "asc"
    ? { least: bounds(nextTo(above, 1), nextTo(after, 1)), greatest: bounds(upTo) }
    : { least: bounds(nextTo(above, 1)), greatest: bounds(upTo, nextTo(after, -1)) };
};
