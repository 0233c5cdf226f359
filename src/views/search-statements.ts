/**
 * The SQL of a search for rows by sequence: a table, and beside it the places that hold labels and words of the same sequences. Only for
 * tenant-query.ts, which guarantees that each query has a tenant.
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
import { type ColumnOf, sqlName, type Table } from "./tables.ts";
import { labelTableName, labelTerm, STRETCH_BITS, STRETCH_TERM_START, type TextMatch } from "./text-index.ts";

export interface Statement {
  /** One `?` per parameter, and none elsewhere. ` MATCH ?` takes a TextMatch, as does `?::tsquery` in `byTables`, and nothing else does. */
  readonly sql: string;
  readonly params: readonly QueryParameter[];
}

export interface SearchParts<Described extends Table> {
  readonly tenant: string;
  readonly table: Described;
  readonly columns: readonly ColumnOf<Described>[];
  readonly where: readonly Condition<ColumnOf<Described>>[];
  /** Ordered by sequence. */
  readonly order: "asc" | "desc";
  /** Rows after this sequence, in the given order. */
  readonly after?: number | undefined;
  /** No row has this sequence or a smaller one. */
  readonly above?: number | undefined;
  /** No row has a greater sequence. */
  readonly upTo?: number | undefined;
  readonly rowsMax: number;
}

/** `byTables`: for a database that keeps labels in a table, and times only in the rows. */
export const searchStatements = <Described extends Table>(
  parts: SearchParts<Described>,
): Statement & { readonly byTables: Statement } => {
  const main = placeOf({ alias: "main", table: parts.table });
  const companions = tablePlaces(parts);
  const match = matchOf(parts);
  const [first] = companions;
  const isApart = isFoundWithout(main, parts);
  // Not with prefixes: for each stretch again, GIN would gather all rows of all words with that prefix.
  const byTables =
    match && isApart && match.words.length > 0 && match.prefixes.length === 0
      ? foundByStretches(parts, { main, match })
      : first && isApart
        ? foundFirst(parts, { main, companions, first })
        : statementOf(parts, { main, companions, bounded: "all" });
  const { sql, params } =
    match === undefined
      ? byTables
      : statementOf(parts, { main, companions: [textPlace(match)], bounded: "first" });
  return { sql, params, byTables };
};

/**
 * The first companion comes first: it contains only rows that match, in the order of the answer. SQLite keeps to the order of a CROSS JOIN
 * (sqlite.org/optoverview.html, "Manual Control Of Query Plans"); PostgreSQL plans by its statistics, however it is written.
 */
const statementOf = <Described extends Table>(
  parts: SearchParts<Described>,
  tables: Pick<Reading, "bounded"> & { readonly main: MainPlace; readonly companions: readonly Place[] },
): Statement => {
  const { tenant, columns, where } = parts;
  const { main, companions, bounded } = tables;
  const [first = main] = companions;
  const more = [
    equals(main.source, "tenant", tenant),
    ...where.flatMap((condition) => mainClauses(condition, main.source, tenant)),
    // The text index takes these itself.
    ...(tables.bounded === "first" ? [] : withoutLabels(parts, first)),
  ];
  const selected = columns.map((name) => columnIn(main.source, name));
  return reading(parts, { places: [...companions, main], selected, bounded, more });
};

interface Reading {
  readonly places: readonly Place[];
  readonly selected: readonly string[];
  /** PostgreSQL does not apply the bound of one place to the places beside it, and would read them from their beginning. */
  readonly bounded: "first" | "all";
  readonly more: readonly Clause[];
}

/** Whether all conditions are about places beside the table. */
const isFoundWithout = (
  { source }: MainPlace,
  { tenant, where }: Pick<SearchParts<Table>, "tenant" | "where">,
): boolean => where.every((condition) => mainClauses(condition, source, tenant).length === 0);

/**
 * Finds sequences first, then their rows. PostgreSQL counts the cost of each joined row before it applies the limit: with long rows it scans the
 * whole log for a rare word instead of gathering its few places (1,000,000 events: 224 ms, and 3 ms this way).
 */
const foundFirst = <Described extends Table>(
  parts: SearchParts<Described>,
  tables: { readonly main: MainPlace; readonly companions: readonly Place[]; readonly first: Place },
): Statement => {
  const { main, companions, first } = tables;
  const selected = [`${first.sequence} AS "sequence"`];
  const more = withoutLabels(parts, first);
  return rowsOf(parts, main, reading(parts, { places: companions, selected, bounded: "all", more }));
};

/**
 * `found` selects the sequences. Each row is fetched by its own: without statistics, or with old ones, PostgreSQL assumes that the tenant has few
 * rows, and compares each of them with each sequence (160,000 events: 1 to 1.6 s, and 10 ms this way). OFFSET keeps the inner query separate.
 */
const rowsOf = <Described extends Table>(
  { tenant, columns, order, rowsMax }: SearchParts<Described>,
  main: MainPlace,
  found: Statement,
): Statement => {
  const isTenants = equals(main.source, "tenant", tenant);
  const selected = columns.map((name) => columnIn(main.source, name)).join(", ");
  const row = `SELECT ${selected} FROM ${main.from} WHERE ${isTenants.text} AND ${main.sequence} = found."sequence" OFFSET 0`;
  return {
    sql: [
      `SELECT ${selected} FROM (${found.sql}) found CROSS JOIN LATERAL (${row}) ${main.source.alias}`,
      `ORDER BY found."sequence" ${direction(order)} LIMIT ?`,
    ].join(" "),
    params: [...found.params, ...isTenants.params, rowsMax],
  };
};

/**
 * The same for words, with or without labels, in PostgreSQL. Its GIN index has no order: it would gather every matching row before sorting, or scan
 * the log until a page is full, which never happens if a word and a label do not occur together. So the end of the log where the answer begins is
 * searched in short stretches, each of which is a term beside the others; this serves frequent words. Then the rest is searched at once, in which few
 * matches are left. Nothing after the stretch that fills the page is read: a nested loop takes the stretches in order, and CTEs keep a plan from
 * running parts of itself in parallel (postgresql.org/docs/current/parallel-safety.html).
 */
const foundByStretches = <Described extends Table>(
  parts: SearchParts<Described>,
  { main, match }: { readonly main: MainPlace; readonly match: TextMatch },
): Statement => {
  const { order, rowsMax } = parts;
  const index = sqlName(match.index.name);
  const { least, greatest } = endsOf(parts);
  const { numbers, isBeyond } = stretchesOf(order);
  const page = (question: string, where: string): string =>
    [
      `(WITH met AS MATERIALIZED (SELECT text0.rowid AS "sequence" FROM ${index} text0 WHERE text0.${index} @@ (${question}))`,
      `SELECT "sequence" FROM met WHERE "sequence" BETWEEN ends.least AND ends.greatest${where}`,
      `ORDER BY "sequence" ${direction(order)} LIMIT ?) page`,
    ].join(" ");
  // One query: with two, the index would read everything that matches the first before it looks at the second (measured with 18).
  const near = page(`?::tsquery && ('''${STRETCH_TERM_START}' || stretch.number || '''')::tsquery`, "");
  // Not a constant: by its statistics PostgreSQL would find a frequent word sooner without the index, which is mostly wrong.
  const far = page("SELECT ?::tsquery", ` AND ${isBeyond}`);
  return rowsOf(parts, main, {
    sql: [
      `WITH ends AS MATERIALIZED (SELECT GREATEST((SELECT MIN(rowid) FROM ${index}), ${least.text}) AS least,`,
      `LEAST((SELECT MAX(rowid) FROM ${index}), ${greatest.text}) AS greatest)`,
      `(SELECT page."sequence" FROM ends CROSS JOIN ${numbers} AS stretch (number) CROSS JOIN LATERAL ${near})`,
      `UNION ALL (SELECT page."sequence" FROM ends CROSS JOIN LATERAL ${far}) LIMIT ?`,
    ].join(" "),
    params: [...least.params, ...greatest.params, match, rowsMax, match, rowsMax, rowsMax],
  });
};

/** The numbers of the short stretches in the order of the answer, and the condition for a sequence beyond all of them. */
const stretchesOf = (order: "asc" | "desc"): { readonly numbers: string; readonly isBeyond: string } => {
  const [first, last, step, sooner, isBehind] =
    order === "desc" ? ["greatest", "least", -1, "GREATEST", "<="] : ["least", "greatest", 1, "LEAST", ">="];
  const numberOf = (sequence: string): string => `(${sequence} >> ${STRETCH_BITS})`;
  const behind = `${numberOf(`ends.${first}`)} + ${step * STRETCHES}`;
  const end = `${sooner}(${behind} - ${step}, ${numberOf(`ends.${last}`)})`;
  return {
    numbers: `generate_series(${numberOf(`ends.${first}`)}, ${end}, ${step})`,
    isBeyond: `${numberOf('"sequence"')} ${isBehind} ${behind}`,
  };
};

/** This many stretches are searched: the 65,536 sequences, or a little less, where the answer begins. */
const STRETCHES = 8;

/** The smallest and the greatest sequence that may be found. GREATEST and LEAST ignore NULL. */
const endsOf = ({
  order,
  after,
  above,
  upTo,
}: Pick<SearchParts<Table>, "order" | "after" | "above" | "upTo">): {
  readonly least: Clause;
  readonly greatest: Clause;
} => {
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

export const direction = (order: "asc" | "desc"): string => (order === "asc" ? "ASC" : "DESC");

/** The rows of one sequence in all places, in the order of the places. */
const reading = (
  {
    order,
    after,
    above,
    upTo,
    rowsMax,
  }: Pick<SearchParts<Table>, "order" | "after" | "above" | "upTo" | "rowsMax">,
  read: Reading,
): Statement => {
  const { places } = read;
  const [driver, ...others] = places;
  assert(driver, "rows stand somewhere");
  const bounded = read.bounded === "all" ? places : [driver];
  const clauses = [
    ...places.flatMap((place) => place.clauses),
    ...others.map((place) => sameSequence(place, driver)),
    ...read.more,
    ...bounded.flatMap((place) => boundsOf(place, { order, after, above })),
    ...(upTo === undefined ? [] : bounded.map((place) => notBeyond(place, upTo))),
  ];
  return {
    sql: [
      `SELECT ${read.selected.join(", ")}`,
      `FROM ${places.map(({ from }) => from).join(" CROSS JOIN ")}`,
      `WHERE ${clauses.map(({ text }) => text).join(" AND ")}`,
      `ORDER BY ${driver.sequence} ${direction(order)} LIMIT ?`,
    ].join(" "),
    params: [...clauses.flatMap(({ params }) => params), rowsMax],
  };
};

/** A place of rows of one sequence: the table itself, a table of labels or a text index. */
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

/** All conditions on the text index as one query, or undefined if there are none. */
const matchOf = ({ tenant, where }: Pick<SearchParts<Table>, "tenant" | "where">): TextMatch | undefined => {
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
    without.length < others.length + 1,
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

const textPlace = (match: TextMatch): Place => ({
  from: `${sqlName(match.index.name)} text0`,
  sequence: "text0.rowid",
  clauses: [{ text: `text0.${sqlName(match.index.name)} MATCH ?`, params: [match] }],
});

const tablePlaces = ({ tenant, where }: Pick<SearchParts<Table>, "tenant" | "where">): readonly Place[] => {
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

/**
 * OFFSET keeps PostgreSQL from joining the tables: it would read all rows with the label, of which there may be a million, before the first row of
 * the page. This way it looks each row up in the index.
 */
const withoutLabels = (
  { tenant, where }: Pick<SearchParts<Table>, "tenant" | "where">,
  driver: Place,
): readonly Clause[] =>
  where
    .filter((condition) => condition.kind === "not_labelled")
    .map(({ index, label }) => ({
      text: `NOT EXISTS (SELECT 1 FROM ${sqlName(labelTableName(index.name))} without WHERE without."label" = ? AND without."sequence" = ${driver.sequence} OFFSET 0)`,
      params: [labelTerm(tenant, label)],
    }));

/**
 * The plus keeps SQLite from applying the cursor's bound to the other table and reading that by the bound, all of it for each row, instead of by the
 * one sequence (measured with 3.54).
 */
const sameSequence = (place: Place, driver: Place): Clause => ({
  text: `${place.sequence} = +${driver.sequence}`,
  params: [],
});

/** At most one bound at each end: with two, an index would use only one, and read the rows up to the other. */
const boundsOf = (
  driver: Place,
  { order, after, above }: Pick<SearchParts<Table>, "order" | "after" | "above">,
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
