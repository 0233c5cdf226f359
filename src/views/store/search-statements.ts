/**
 * The SQL of a search for rows by sequence: a table, and beside it the text index that holds words, labels and times of the same sequences. Only for
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
import { STRETCH_BITS, STRETCH_TERM_START, type TextMatch } from "./text-index.ts";

export interface Statement {
  /** One `?` per parameter, and none elsewhere. ` MATCH ?` takes a TextMatch, as does `?::tsquery` in `inPostgres`, and nothing else does. */
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

type Bounds = Pick<SearchParts<Table>, "order" | "after" | "above" | "upTo">;

export const searchStatements = <Described extends Table>(
  parts: SearchParts<Described>,
): Statement & { readonly inPostgres: Statement } => {
  const { tenant, table, columns, where, order, rowsMax } = parts;
  const main: Source = { alias: "main", table };
  const sequence = columnIn(main, "sequence");
  const own = [
    equals(main, "tenant", tenant),
    ...where.flatMap((condition) => mainClauses(condition, main, tenant)),
  ];
  const selected = columns.map((name) => columnIn(main, name)).join(", ");
  const reading = (from: string, place: string, clauses: readonly Clause[]): Statement => ({
    sql: [
      `SELECT ${selected} FROM ${from} WHERE ${clauses.map(({ text }) => text).join(" AND ")}`,
      `ORDER BY ${place} ${direction(order)} LIMIT ?`,
    ].join(" "),
    params: [...clauses.flatMap(({ params }) => params), rowsMax],
  });
  const from = `${sqlName(table.name)} main`;
  const match = matchOf(parts);
  if (match === undefined) {
    const statement = reading(from, sequence, [...own, ...boundsOf(sequence, parts)]);
    return { ...statement, inPostgres: statement };
  }
  const index = sqlName(match.index.name);
  const found: readonly Clause[] = [
    { text: `text0.${index} MATCH ?`, params: [match] },
    // The plus keeps SQLite from applying the cursor's bound to the table, and reading that by the bound for each row (measured with 3.54).
    { text: `${sequence} = +text0.rowid`, params: [] },
  ];
  // SQLite keeps to the order of a CROSS JOIN (sqlite.org/optoverview.html, "Manual Control Of Query Plans"); FTS5 gives the order of the answer.
  const sqlite = reading(`${index} text0 CROSS JOIN ${from}`, "text0.rowid", [
    ...found,
    ...own,
    ...boundsOf("text0.rowid", parts),
  ]);
  return { ...sqlite, inPostgres: foundByStretches(parts, { match, selected, from, own }) };
};

export const direction = (order: "asc" | "desc"): string => (order === "asc" ? "ASC" : "DESC");

/**
 * In PostgreSQL a GIN index has no order: it would gather every matching row before sorting. So the end of the log where the answer begins is searched in
 * short stretches, each of which is a term beside the others; this serves frequent words. Then the rest is searched at once, in which few matches are
 * left. Nothing after the stretch that fills the page is read: a nested loop takes the stretches in order, and CTEs keep a plan from running parts of
 * itself in parallel (postgresql.org/docs/current/parallel-safety.html). Each row is fetched by itself (LATERAL, kept apart by OFFSET): without
 * statistics PostgreSQL would compare all rows of the tenant with each sequence.
 */
const foundByStretches = <Described extends Table>(
  parts: SearchParts<Described>,
  read: {
    readonly match: TextMatch;
    readonly selected: string;
    readonly from: string;
    readonly own: readonly Clause[];
  },
): Statement => {
  const { columns, order, rowsMax } = parts;
  const { match, selected, from, own } = read;
  const index = sqlName(match.index.name);
  const { least, greatest } = endsOf(parts);
  const { numbers, isBeyond, reachesBeyond } = stretchesOf(order);
  const row = `SELECT ${selected} FROM ${from} WHERE ${own.map(({ text }) => text).join(" AND ")} AND main."sequence" = met."sequence" OFFSET 0`;
  const page = (question: string, where: string): string =>
    [
      `(WITH met AS MATERIALIZED (SELECT text0.rowid AS "sequence" FROM ${index} text0 WHERE text0.${index} @@ (${question}))`,
      `SELECT met."sequence" AS place, main.* FROM (SELECT "sequence" FROM met WHERE "sequence" BETWEEN ends.least AND ends.greatest${where}`,
      `ORDER BY "sequence" ${direction(order)}) met CROSS JOIN LATERAL (${row}) main`,
      `ORDER BY met."sequence" ${direction(order)} LIMIT ?) page`,
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
      `SELECT ${columns.map(sqlName).join(", ")} FROM (`,
      `(SELECT page.* FROM ends CROSS JOIN ${numbers} AS stretch (number) CROSS JOIN LATERAL ${near})`,
      `UNION ALL (SELECT page.* FROM (SELECT * FROM ends WHERE ${reachesBeyond}) ends CROSS JOIN LATERAL ${far}) LIMIT ?`,
      `) found ORDER BY place ${direction(order)}`,
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
const endsOf = ({ order, after, above, upTo }: Bounds) => {
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

/** At most one bound below: with two, an index would use only one, and read the rows up to the other. */
const boundsOf = (sequence: string, { order, after, above, upTo }: Bounds): readonly Clause[] => {
  const bound = (sign: string, value: number | undefined): readonly Clause[] => {
    if (value === undefined) return [];
    assert(Number.isSafeInteger(value), "a search is bounded by sequences");
    return [{ text: `${sequence} ${sign} ?`, params: [value] }];
  };
  const below =
    order === "asc" ? [above, after].filter((value) => value !== undefined) : [above ?? []].flat();
  return [
    ...bound(">", below.length === 0 ? undefined : Math.max(...below)),
    ...bound("<", order === "desc" ? after : undefined),
    ...bound("<=", upTo),
  ];
};

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
