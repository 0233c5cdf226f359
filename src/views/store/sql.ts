/** SQL of described tables that both databases understand. One `?` per value. */
import { columnList, sqlName, type Table } from "./tables.ts";

const names = (table: Table): string => Object.keys(table.columns).map(sqlName).join(", ");

/** `rows`: the new rows, with every column in its order. */
export const insertSql = (table: Table, rows: string) => {
  const insert = `INSERT INTO ${sqlName(table.name)} (${names(table)}) ${rows}`;
  const others = Object.keys(table.columns)
    .filter((column) => !table.primaryKey.includes(column))
    .map(sqlName);
  const onConflict = (change: (column: string) => string): string => {
    const action = others.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${others.map(change).join(", ")}`;
    return `${insert} ON CONFLICT (${columnList(table, table.primaryKey)}) ${action}`;
  };
  return {
    insert,
    upsert: onConflict((column) => `${column} = excluded.${column}`),
    add: onConflict((column) => `${column} = ${sqlName(table.name)}.${column} + excluded.${column}`),
  };
};

/** The first rows in the order of the key; takes their number. */
export const firstPageSql = (table: Table): string =>
  `SELECT ${names(table)} FROM ${sqlName(table.name)} ORDER BY ${columnList(table, table.primaryKey)} LIMIT ?`;

/** The rows after a key; takes the key and their number. */
export const nextPageSql = (table: Table): string => {
  const key = columnList(table, table.primaryKey);
  const marks = table.primaryKey.map(() => "?").join(", ");
  return `SELECT ${names(table)} FROM ${sqlName(table.name)} WHERE (${key}) > (${marks}) ORDER BY ${key} LIMIT ?`;
};

export const among = (column: string, values: readonly unknown[]): string =>
  `${column} IN (${values.map(() => "?").join(", ")})`;
