/** Checks rows against the description of their table, and makes their values for a database. Errors never quote a value. */
import { columnOf, type Row, type Table, type Value } from "./tables.ts";
import { toStoredText } from "./text.ts";

/** Throws if the row is not one that the table can hold. */
export const checkRow = (table: Table, row: Row): void => {
  let count = 0;
  for (const name in table.columns) {
    checkValue(table, name, row[name]);
    count++;
  }
  checkCount(table, row, count);
};

/** The same for a primary key: exactly its columns. */
export const checkKey = (table: Table, key: Row): void => {
  for (const name of table.primaryKey) checkValue(table, name, key[name]);
  checkCount(table, key, table.primaryKey.length);
};

/** The values of the columns in their order. Throws like checkRow. */
export const storedRow = (table: Table, row: Row): Value[] => {
  const values: Value[] = [];
  for (const name in table.columns) values.push(toStored(checkValue(table, name, row[name])));
  checkCount(table, row, values.length);
  return values;
};

/** The values of a primary key. Throws like checkKey. */
export const storedKey = (table: Table, key: Row): Value[] => {
  checkCount(table, key, table.primaryKey.length);
  return table.primaryKey.map((name) => toStored(checkValue(table, name, key[name])));
};

export const toStored = (value: Value): Value => (typeof value === "string" ? toStoredText(value) : value);

const checkValue = (table: Table, name: string, value: Value | undefined): Value => {
  const column = table.columns[name];
  if (typeof value === "string" && column?.type === "text") return value;
  if (typeof value === "number" && column?.type === "integer" && Number.isSafeInteger(value)) return value;
  if (value === null && column?.nullable) return value;
  const { type, nullable } = columnOf(table, name);
  throw new Error(`${table.name}.${name} takes ${nullable ? "null or " : ""}${type}`);
};

const checkCount = (table: Table, row: Row, count: number): void => {
  let own = 0;
  for (const _ in row) own++;
  if (own === count) return;
  throw new Error(`what is written to ${table.name} has other columns than it`);
};
