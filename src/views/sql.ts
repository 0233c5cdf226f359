/** The SQL that reads and writes single rows of a described table. One `?` per value, in the order of the named columns. */
import { columnList, columnName, indexedBesideKey, sqlName, type Table } from "./tables.ts";

export interface RowSql {
  /** Takes the primary key. */
  readonly select: string;
  /** Takes the primary key as well: returns the row with it, or the last row before it that differs only in the last column. */
  readonly selectAtOrBefore: string;
  /**
   * Takes the primary keys of KEYS_PER_SELECT rows that differ only in their last column: the shared columns, then the last column of each. For
   * SQLite.
   */
  readonly selects: string;
  /** They take every column, in the order of the description. */
  readonly insert: string;
  /** Takes the columns of INSERTS_PER_STATEMENT rows, row after row. For SQLite. */
  readonly inserts: string;
  readonly upsert: string;
  /** Takes `updated`. Undefined if all columns are in the key or in an index. */
  readonly update: string | undefined;
  readonly add: string;
  /** Takes the primary key. */
  readonly delete: string;
  /** The first rows in the order of the key; takes their number. */
  readonly firstPage: string;
  /** The rows after a key; takes the key and their number. */
  readonly nextPage: string;
  readonly columns: readonly string[];
  /** Columns in neither the key nor an index, whose change affects only the row; then the key. */
  readonly updated: readonly string[];
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

/** New rows that SQLite writes with one statement: a quarter less time than one by one; twice as many rows save hardly more (measured). */
export const INSERTS_PER_STATEMENT = 16;

/** Rows that SQLite looks up with one statement: half the time of one by one (measured). */
export const KEYS_PER_SELECT = 16;

const makeRowSql = (table: Table): RowSql => {
  const names = Object.keys(table.columns);
  const name = sqlName(table.name);
  const keyMatches = table.primaryKey.map((key) => `${columnName(table, key)} = ?`).join(" AND ");
  const into = `INTO ${name} (${columnList(table, names)}) VALUES`;
  const marks = `(${names.map(() => "?").join(", ")})`;
  const insert = `INSERT ${into} ${marks}`;
  const key = columnList(table, table.primaryKey);
  const keyMarks = table.primaryKey.map(() => "?").join(", ");
  const indexed = indexedBesideKey(table);
  const plain = names.filter((column) => !table.primaryKey.includes(column) && !indexed.includes(column));
  const changes = plain.map((column) => `${columnName(table, column)} = ?`).join(", ");
  const last = columnName(table, table.primaryKey.at(-1) ?? "");
  const lastIsOneOf = keyMatches.replace(/= \?$/, `IN (${Array(KEYS_PER_SELECT).fill("?").join(", ")})`);
  return {
    select: `SELECT ${columnList(table, names)} FROM ${name} WHERE ${keyMatches}`,
    selectAtOrBefore: `SELECT ${columnList(table, names)} FROM ${name} WHERE ${keyMatches.replace(/= \?$/, "<= ?")} ORDER BY ${last} DESC LIMIT 1`,
    selects: `SELECT ${columnList(table, names)} FROM ${name} WHERE ${lastIsOneOf}`,
    insert,
    // Without OR FAIL SQLite copies all pages that the statement changes, to be able to undo the statement alone. Here the whole transaction is
    // rolled back.
    inserts: `INSERT OR FAIL ${into} ${Array(INSERTS_PER_STATEMENT).fill(marks).join(", ")}`,
    update: plain.length === 0 ? undefined : `UPDATE ${name} SET ${changes} WHERE ${keyMatches}`,
    columns: names,
    updated: [...plain, ...table.primaryKey],
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
