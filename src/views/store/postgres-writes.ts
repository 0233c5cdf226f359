/**
 * The writes of a commit, as few statements. PostgreSQL answers each statement over the network, so rows are sent together: one array per column,
 * which `unnest` turns into rows again. The text is the same for one row and for a thousand.
 */
import { VIEW_STATEMENT_CHARACTERS_MAX, VIEW_STATEMENT_ROWS_MAX } from "../../limits.ts";
import { inSlices } from "./in-slices.ts";
import type { Statement } from "./postgres-connection.ts";
import { addTextWrite, type TextRun, textStatements } from "./postgres-text-writes.ts";
import { overExisting } from "./sql.ts";
import { checkKey, checkRow } from "./stored-values.ts";
import {
  columnList,
  columnName,
  columnOf,
  keyText,
  type Row,
  SQL_TYPES,
  sqlName,
  type Table,
  type Value,
} from "./tables.ts";
import { toStoredText } from "./text.ts";
import { isTextWrite, type RowWrite, type WhichRows, type Write } from "./view-store.ts";

/**
 * Statements with the same result as the single writes. Tables do not depend on each other, so only the order within one table is kept. Throws if a
 * row is not one that its table can hold.
 */
export const writeStatements = async (writes: readonly Write[]): Promise<readonly Statement[]> => {
  const runs = new Map<Table, Run[]>();
  const texts: TextRun[] = [];
  await inSlices(writes, (write) => {
    if (isTextWrite(write)) addTextWrite(texts, write);
    else addWrite(runs, write);
  });
  const statements: Statement[] = texts.flatMap(textStatements);
  await inSlices([...runs.values()].flat(), ({ kind, table, rows }) =>
    statements.push({ sql: writeSql(table)[kind], params: arraysOf([...rows.values()]) }),
  );
  return statements;
};

/** As ViewStore describes for `load`. */
export const loadStatement = (table: Table, keys: readonly Row[], which: WhichRows = "at"): Statement => {
  const rows = keys.map((key) => {
    checkKey(table, key);
    return elements(table.primaryKey, key);
  });
  const { load, loadAtOrBefore } = writeSql(table);
  return { sql: which === "at" ? load : loadAtOrBefore, params: arraysOf(rows, table.primaryKey.length) };
};

/** A run: writes of one kind to one table that one statement can make, because their order does not matter. */
interface Run {
  readonly kind: RowWrite["kind"];
  readonly table: Table;
  readonly keys: Set<string>;
  /** Elements of arrays, by the text of the key, or by number if a key that comes twice is an error. */
  readonly rows: Map<string | number, readonly string[]>;
  characters: number;
}

const addWrite = (runs: Map<Table, Run[]>, write: RowWrite): void => {
  const { kind, table } = write;
  if (kind === "delete") checkKey(table, write.key);
  else checkRow(table, write.row);
  const [row, names] =
    kind === "delete" ? [write.key, table.primaryKey] : [write.row, Object.keys(table.columns)];
  const key = keyText(table, row);
  const ofTable = runs.get(table) ?? [];
  runs.set(table, ofTable);
  const run = runFor(ofTable, write, key);
  const made = elements(names, row);
  run.keys.add(key);
  // If two rows have one key, the last counts, because it has every column.
  run.rows.set(kind === "insert" ? run.rows.size : key, made);
  for (const { length } of made) run.characters += length;
};

/**
 * The last run of that kind, unless a later run of another kind contains the key: then the write must come after that. PostgreSQL refuses a statement
 * that changes one key twice, so adding to one key again starts a new run.
 */
const runFor = (runs: Run[], { kind, table }: RowWrite, key: string): Run => {
  const index = runs.findLastIndex((run) => run.kind === kind);
  const last = runs[index];
  const hasRoom =
    last !== undefined &&
    last.rows.size < VIEW_STATEMENT_ROWS_MAX &&
    last.characters < VIEW_STATEMENT_CHARACTERS_MAX;
  const inTheWay = runs.slice(kind === "add" ? index : index + 1);
  if (hasRoom && !inTheWay.some((run) => run.keys.has(key))) return last;
  const run: Run = { kind, table, keys: new Set(), rows: new Map(), characters: 0 };
  runs.push(run);
  return run;
};

const elements = (names: readonly string[], row: Row): readonly string[] =>
  names.map((name) => elementOf(row[name] ?? null));

/** One element of an array as PostgreSQL writes it (its manual, 8.15.6). */
const elementOf = (value: Value): string => {
  if (typeof value !== "string") return value === null ? "NULL" : String(value);
  return `"${toStoredText(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
};

export const textArray = (texts: readonly string[]): string => `{${texts.map(elementOf).join(",")}}`;

/** Transposes rows to columns. */
const arraysOf = (rows: readonly (readonly string[])[], columns = rows[0]?.length ?? 0): readonly string[] =>
  Array.from({ length: columns }, (_, column) => `{${rows.map((row) => row[column] ?? "NULL").join(",")}}`);

interface WriteSql {
  /** They take one array per column, in the order of the description. */
  readonly insert: string;
  readonly upsert: string;
  readonly add: string;
  /** They take one array per column of the primary key. */
  readonly delete: string;
  readonly load: string;
  readonly loadAtOrBefore: string;
}

const writeSql = (table: Table): WriteSql => {
  const known = made.get(table);
  if (known) return known;
  const sql = makeWriteSql(table);
  made.set(table, sql);
  return sql;
};

const made = new WeakMap<Table, WriteSql>();

const makeWriteSql = (table: Table): WriteSql => {
  const names = Object.keys(table.columns);
  const name = sqlName(table.name);
  const key = columnList(table, table.primaryKey);
  const insert = `INSERT INTO ${name} (${columnList(table, names)}) SELECT * FROM ${unnest(table, names)}`;
  const asked = `${unnest(table, table.primaryKey)} AS asked (${key})`;
  const matches = table.primaryKey
    .map((column) => `stored.${columnName(table, column)} = asked.${columnName(table, column)}`)
    .join(" AND ");
  const last = `stored.${columnName(table, table.primaryKey.at(-1) ?? "")}`;
  const atOrBefore = `${matches.replace(`${last} =`, `${last} <=`)} ORDER BY ${last} DESC LIMIT 1`;
  const stored = names.map((column) => `stored.${columnName(table, column)}`).join(", ");
  return {
    insert,
    ...overExisting(table, insert),
    delete: `DELETE FROM ${name} stored USING ${asked} WHERE ${matches}`,
    load: `SELECT ${stored} FROM ${name} stored JOIN ${asked} ON ${matches}`,
    loadAtOrBefore: `SELECT found.* FROM ${asked}, LATERAL (SELECT ${stored} FROM ${name} stored WHERE ${atOrBefore}) found`,
  };
};

const unnest = (table: Table, names: readonly string[]): string =>
  `unnest(${names.map((name, index) => `$${index + 1}::${SQL_TYPES[columnOf(table, name).type]}[]`).join(", ")})`;
