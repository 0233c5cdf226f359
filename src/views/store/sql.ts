/** The SQL that reads and writes single rows of a described table. One `?` per value, in the order of the named columns. */
import { columnList, columnName, sqlName, type Table } from "./tables.ts";

export interface RowSql {
  /** Takes the primary key. */
  readonly select: string;
  /** Takes the primary key as well: returns the row with it, or the last row before it that differs only in the last column. */
  readonly selectAtOrBefore: string;
  /** They take every column, in the order of the description. */
  readonly insert: string;
  readonly upsert: string;
  readonly add: string;
  /** Takes the primary key. */
  readonly delete: string;
  /** The first rows in the order of the key; takes their number. */
  readonly firstPage: string;
  /** The rows after a key; takes the key and their number. */
  readonly nextPage: string;
}

export const DEAD_LETTERS_PAGE =
  "SELECT projection, sequence, tenant, event_id, code, detail, recorded_at FROM dead_letters WHERE projection = ? AND sequence > ? ORDER BY sequence LIMIT ?";

export const VIEW_NAMES = "SELECT name FROM views ORDER BY name";

export const rowSql = (table: Table): RowSql => {
  const known = made.get(table);
  if (known) return known;
  const sql = makeRowSql(table);
  made.set(table, sql);
  return sql;
};

/** Made once per table, because it is needed for every row. */
const made = new WeakMap<Table, RowSql>();

const makeRowSql = (table: Table): RowSql => {
  const names = Object.keys(table.columns);
  const name = sqlName(table.name);
  const keyMatches = table.primaryKey.map((key) => `${columnName(table, key)} = ?`).join(" AND ");
  const into = `INTO ${name} (${columnList(table, names)}) VALUES`;
  const marks = `(${names.map(() => "?").join(", ")})`;
  const insert = `INSERT ${into} ${marks}`;
  const key = columnList(table, table.primaryKey);
  const keyMarks = table.primaryKey.map(() => "?").join(", ");
  const last = columnName(table, table.primaryKey.at(-1) ?? "");
  return {
    select: `SELECT ${columnList(table, names)} FROM ${name} WHERE ${keyMatches}`,
    selectAtOrBefore: `SELECT ${columnList(table, names)} FROM ${name} WHERE ${keyMatches.replace(/= \?$/, "<= ?")} ORDER BY ${last} DESC LIMIT 1`,
    insert,
    ...overExisting(table, insert),
    delete: `DELETE FROM ${name} WHERE ${keyMatches}`,
    firstPage: `SELECT ${columnList(table, names)} FROM ${name} ORDER BY ${key} LIMIT ?`,
    nextPage: `SELECT ${columnList(table, names)} FROM ${name} WHERE (${key}) > (${keyMarks}) ORDER BY ${key} LIMIT ?`,
  };
};

/** Turns an insert statement into one that replaces the row with the same key, or adds to it; for both databases. */
export const overExisting = (table: Table, insert: string): Pick<RowSql, "upsert" | "add"> => {
  const others = Object.keys(table.columns)
    .filter((column) => !table.primaryKey.includes(column))
    .map((column) => columnName(table, column));
  const onConflict = (change: (column: string) => string): string => {
    const action = others.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${others.map(change).join(", ")}`;
    return `${insert} ON CONFLICT (${columnList(table, table.primaryKey)}) ${action}`;
  };
  return {
    upsert: onConflict((column) => `${column} = excluded.${column}`),
    add: onConflict((column) => `${column} = ${sqlName(table.name)}.${column} + excluded.${column}`),
  };
};
