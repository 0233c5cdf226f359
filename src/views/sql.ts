/** The SQL that reads and writes single rows of a described table. One `?` per value, in the order of the columns named. */
import { columnList, columnName, sqlName, type Table } from "./tables.ts";

export interface RowSql {
  /** Takes the primary key. */
  readonly select: string;
  /** Take every column, in the order of the description. */
  readonly insert: string;
  readonly upsert: string;
  readonly add: string;
  /** Takes the primary key. */
  readonly delete: string;
}

export const rowSql = (table: Table): RowSql => {
  const known = made.get(table);
  if (known) return known;
  const sql = makeRowSql(table);
  made.set(table, sql);
  return sql;
};

/** Made once per table: it is asked for at every row. */
const made = new WeakMap<Table, RowSql>();

const makeRowSql = (table: Table): RowSql => {
  const names = Object.keys(table.columns);
  const name = sqlName(table.name);
  const keyMatches = table.primaryKey.map((key) => `${columnName(table, key)} = ?`).join(" AND ");
  const insert = `INSERT INTO ${name} (${columnList(table, names)}) VALUES (${names.map(() => "?").join(", ")})`;
  const others = names
    .filter((column) => !table.primaryKey.includes(column))
    .map((column) => columnName(table, column));
  const onConflict = (change: (column: string) => string): string => {
    const action = others.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${others.map(change).join(", ")}`;
    return `${insert} ON CONFLICT (${columnList(table, table.primaryKey)}) ${action}`;
  };
  return {
    select: `SELECT ${columnList(table, names)} FROM ${name} WHERE ${keyMatches}`,
    insert,
    upsert: onConflict((column) => `${column} = excluded.${column}`),
    add: onConflict((column) => `${column} = ${name}.${column} + excluded.${column}`),
    delete: `DELETE FROM ${name} WHERE ${keyMatches}`,
  };
};
