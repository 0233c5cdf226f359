/**
 * The writes of a commit as few statements: PostgreSQL answers each over the network. Rows of a table are sent together, one array per column, which
 * `unnest` turns into rows again; and the writes to many tables are one statement, each in a part of its WITH.
 */
import { VIEW_STATEMENT_CHARACTERS_MAX, VIEW_WRITE_SLICE_MS_MAX } from "../../limits.ts";
import { createPauses } from "../../runtime/pauses.ts";
import {
  columnName,
  columnOf,
  type Dialect,
  endOfOrder,
  insertSql,
  keyText,
  type Row,
  sqlName,
  storing,
  type Table,
  type Value,
} from "./tables.ts";
import { createRowTerms, postgresTermsText } from "./text-index.ts";
import { isTextWrite, type RowWrite, type TextWrite, type WhichRows, type Write } from "./view-store.ts";

/** One `?` per value. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly (string | number)[];
}

/** Texts are ordered by their bytes, as in SQLite: ranges of time and pages depend on it. */
export const POSTGRES: Dialect = {
  types: { text: 'text COLLATE "C"', integer: "bigint" },
  // Rows are read from the table anyway, so no columns after the order; and what only decides between equal times is sorted while it is read.
  indexed: (table, names) => {
    const end = endOfOrder(table, names);
    if (end < 0) return names;
    return names.slice(0, end < LEAST_INDEXED ? end + 1 : end);
  },
};

/** Tenant, something that is asked for or a time, and one column more. */
const LEAST_INDEXED = 3;

/**
 * Statements with the same result as the single writes, if they run in their order: each is made while the server works on the one before. Throws if a
 * row is not one that its table can hold.
 */
export async function* writeStatements(writes: readonly Write[]): AsyncGenerator<Statement> {
  const pause = createPauses(VIEW_WRITE_SLICE_MS_MAX);
  let parts: Statement[] = [];
  let stages = new Map<string, number>();
  let characters = 0;
  const taken = (): Statement => {
    const statement = together(parts);
    [parts, stages, characters] = [[], new Map(), 0];
    return statement;
  };
  for (const { name, stage, sql, columns, rows } of stepsOf(writes)) {
    if ((stages.get(name) ?? stage) !== stage) yield taken();
    let arrays: string[][] = columns.map(() => []);
    const add = (): void => {
      if (arrays[0]?.length === 0) return;
      parts.push({ sql, params: arrays.map((elements) => `{${elements.join(",")}}`) });
      stages.set(name, stage);
      arrays = columns.map(() => []);
    };
    for (const row of rows) {
      for (const [index, element] of row().entries()) {
        arrays[index]?.push(element);
        characters += element.length;
      }
      const paused = pause();
      if (paused) await paused;
      if (characters < VIEW_STATEMENT_CHARACTERS_MAX) continue;
      add();
      yield taken();
    }
    add();
  }
  if (parts.length > 0) yield taken();
}

const together = (parts: readonly Statement[]): Statement => {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return only;
  return {
    sql: `WITH ${parts.map(({ sql }, index) => `part${index} AS (${sql})`).join(", ")} SELECT 1`,
    params: parts.flatMap(({ params }) => params),
  };
};

/** Writes of one kind to one table. In one stage of a table no key is in two of them, so one statement can make them all. */
interface Step {
  readonly name: string;
  readonly stage: number;
  readonly sql: string;
  readonly columns: readonly unknown[];
  /** The elements of the arrays for one row. */
  readonly rows: readonly (() => readonly string[])[];
}

/** Tables do not depend on each other, so only the order within one table is kept. */
const stepsOf = (writes: readonly Write[]): readonly Step[] => {
  const tables = new Map<Table, RowWrite[]>();
  const texts = new Map<string, TextWrite[]>();
  for (const write of writes) {
    if (isTextWrite(write)) entryOf(texts, write.index.name).push(write);
    else entryOf(tables, write.table).push(write);
  }
  return [
    ...[...texts].flatMap(([name, some]) => textSteps(name, some)),
    ...[...tables].flatMap(([table, some]) => tableSteps(table, some)),
  ];
};

const entryOf = <Key, Item>(map: Map<Key, Item[]>, key: Key): Item[] => {
  const known = map.get(key) ?? [];
  map.set(key, known);
  return known;
};

const tableSteps = (table: Table, writes: readonly RowWrite[]): readonly Step[] => {
  const names = Object.keys(table.columns);
  const { name, primaryKey } = table;
  const sql = writeSql(table);
  const [rowOf, keyOf] = [storing(table, names), storing(table, primaryKey)];
  const steps: Step[] = [];
  let kinds = new Map<RowWrite["kind"], (() => readonly string[])[]>();
  let keys = new Set<string>();
  let stage = 0;
  const end = (): void => {
    for (const [kind, rows] of kinds)
      steps.push({ name, stage, sql: sql[kind], columns: kind === "delete" ? primaryKey : names, rows });
    [kinds, keys] = [new Map(), new Set()];
    stage++;
  };
  for (const write of writes) {
    const row = write.kind === "delete" ? write.key : write.row;
    const key = keyText(table, row);
    if (keys.has(key)) end();
    keys.add(key);
    const stored = write.kind === "delete" ? keyOf : rowOf;
    entryOf(kinds, write.kind).push(() => stored(row).map(elementOf));
  }
  end();
  return steps;
};

/** If one sequence is written twice, the last write counts. */
const textSteps = (name: string, writes: readonly TextWrite[]): readonly Step[] => {
  const rowTerms = createRowTerms();
  const last = [...new Map(writes.map((write) => [write.sequence, write])).values()];
  const indexed = last.filter((write) => write.kind === "index");
  const gone = last.filter((write) => write.kind === "unindex");
  const table = sqlName(name);
  return [
    {
      ...{ name, stage: 0 },
      sql: `INSERT INTO ${table} (rowid, terms) SELECT * FROM unnest(?::bigint[], ?::text[]) ON CONFLICT (rowid) DO UPDATE SET terms = excluded.terms`,
      columns: ["rowid", "terms"],
      // Terms contain no character that the text of an array would have to escape.
      rows: indexed.map((write) => () => [String(write.sequence), `"${postgresTermsText(rowTerms(write))}"`]),
    },
    {
      ...{ name, stage: 0 },
      sql: `DELETE FROM ${table} WHERE rowid = ANY (?::bigint[])`,
      columns: ["rowid"],
      rows: gone.map(({ sequence }) => () => [String(sequence)]),
    },
  ];
};

/** One element of an array as PostgreSQL writes it (its manual, 8.15.6). */
const elementOf = (value: Value): string => {
  if (typeof value !== "string") return value === null ? "NULL" : String(value);
  return `"${QUOTED.test(value) ? value.replaceAll(/["\\]/g, "\\$&") : value}"`;
};

const QUOTED = /["\\]/;

/** They take one array per column, or per column of the primary key. */
const writeSql = (table: Table): Readonly<Record<RowWrite["kind"], string>> => {
  const asked = askedKeys(table);
  return {
    ...insertSql(table, `SELECT * FROM ${unnest(table, Object.keys(table.columns))}`),
    delete: `DELETE FROM ${sqlName(table.name)} stored USING ${asked} WHERE ${keyMatches(table).join(" AND ")}`,
  };
};

/** As ViewStore describes for `load`. */
export const loadStatement = (table: Table, keys: readonly Row[], which: WhichRows = "at"): Statement => {
  const keyOf = storing(table, table.primaryKey);
  const rows = keys.map((key) => keyOf(key).map(elementOf));
  const matches = keyMatches(table);
  const last = matches.length - 1;
  const before = matches.with(last, matches[last]?.replace(" = ", " <= ") ?? "");
  const order = `ORDER BY stored.${columnName(table, table.primaryKey[last] ?? "")} DESC`;
  const where = which === "at" ? matches.join(" AND ") : `${before.join(" AND ")} ${order}`;
  const columns = Object.keys(table.columns).map((name) => `stored.${sqlName(name)}`);
  return {
    // Key by key through the index: without statistics PostgreSQL would rather read the whole table than look a thousand keys up.
    sql: `SELECT found.* FROM ${askedKeys(table)}, LATERAL (SELECT ${columns.join(", ")} FROM ${sqlName(table.name)} stored WHERE ${where} LIMIT 1) found`,
    params: table.primaryKey.map((_, column) => `{${rows.map((row) => row[column]).join(",")}}`),
  };
};

const askedKeys = (table: Table): string => {
  const key = table.primaryKey.map((name) => columnName(table, name)).join(", ");
  return `${unnest(table, table.primaryKey)} AS asked (${key})`;
};

const keyMatches = (table: Table): string[] =>
  table.primaryKey.map((name) => `stored.${columnName(table, name)} = asked.${columnName(table, name)}`);

const unnest = (table: Table, names: readonly string[]): string =>
  `unnest(${names.map((name) => `?::${ARRAY_TYPES[columnOf(table, name).type]}[]`).join(", ")})`;

const ARRAY_TYPES = { text: "text", integer: "bigint" } as const;
