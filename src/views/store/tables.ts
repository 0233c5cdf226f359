/**
 * Describes a table once, as data. The SQL made from it works in SQLite and PostgreSQL. Rows are checked against the same description before a
 * database sees them (stored-values.ts).
 */
import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";

export interface Column {
  readonly type: "text" | "integer";
  readonly nullable?: true;
}

export const TEXT = { type: "text" } as const satisfies Column;
export const NULLABLE_TEXT = { type: "text", nullable: true } as const satisfies Column;
/** Below 2^53, so that it is an exact number everywhere. */
export const INTEGER = { type: "integer" } as const satisfies Column;

export const NULLABLE_INTEGER = { type: "integer", nullable: true } as const satisfies Column;

export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly primaryKey: readonly string[];
  /**
   * The columns of each index. If two indexes serve a list, the later one is used (tenant-query.ts), so the more selective one must come later. After
   * the columns of the order, further columns may be listed by which lists are filtered: rows that they exclude are skipped in the index, without
   * reading the row.
   */
  readonly indexes: readonly (readonly string[])[];
}

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;
export type ColumnOf<Described extends Table> = keyof Described["columns"] & string;
export type RowOf<Described extends Table> = {
  readonly [Name in ColumnOf<Described>]: ValueOf<Described["columns"][Name]>;
};
/** A row while its counters are being added up. */
export type RowInMaking<Described extends Table> = {
  -readonly [Name in ColumnOf<Described>]: RowOf<Described>[Name];
};
type ValueOf<Described extends Column | undefined> =
  | (Described extends { type: "text" } ? string : number)
  | (Described extends { nullable: true } ? null : never);

/** The statements that make a table and its indexes. */
export const tableDdl = (table: Table, types: SqlTypes = SQL_TYPES): readonly string[] => {
  const columns = Object.entries(table.columns).map(([name, column]) => columnDdl(name, column, types));
  const primaryKey = `PRIMARY KEY (${columnList(table, table.primaryKey)})`;
  return [
    `CREATE TABLE ${sqlName(table.name)} (${[...columns, primaryKey].join(", ")})`,
    ...table.indexes.map((names) => indexDdl(table, names)),
  ];
};

type SqlTypes = Readonly<Record<Column["type"], string>>;

/** Both databases accept `bigint`: 8 bytes in PostgreSQL, integer affinity in SQLite. */
export const SQL_TYPES = { text: "text", integer: "bigint" } as const satisfies SqlTypes;

const columnDdl = (name: string, column: Column, types: SqlTypes): string =>
  `${sqlName(name)} ${types[column.type]}${column.nullable ? "" : " NOT NULL"}`;

/**
 * Nobody searches for rows without a value, so these rows need no place in the index. Columns after the order, which ends like the key, may have no
 * value.
 */
const indexDdl = (table: Table, names: readonly string[]): string => {
  const indexName = sqlName(shortName(`${table.name}_by_${names.join("_")}`));
  const orderEnd = names.indexOf(table.primaryKey.at(-1) ?? "");
  const ordered = orderEnd < 0 ? names : names.slice(0, orderEnd);
  const filled = ordered.filter((name) => columnOf(table, name).nullable);
  const condition = filled.map((name) => `${columnName(table, name)} IS NOT NULL`).join(" AND ");
  const made = `CREATE INDEX ${indexName} ON ${sqlName(table.name)} (${columnList(table, names)})`;
  return condition === "" ? made : `${made} WHERE ${condition}`;
};

/** PostgreSQL silently truncates longer names. */
const NAME_CHARACTERS_MAX = 63;
const DIGEST_CHARACTERS = 8;

/**
 * Names of indexes are made of other names, and names of remade tables of even more. A name that is too long is shortened and made unique by a
 * digest.
 */
const shortName = (name: string): string => {
  if (name.length <= NAME_CHARACTERS_MAX) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST_CHARACTERS);
  return `${name.slice(0, NAME_CHARACTERS_MAX - DIGEST_CHARACTERS - 1)}_${digest}`;
};

const NAME = /^[a-z][a-z0-9_]*$/;

/** A name from a description, in quotes because `key` and `value` are also words of SQL. */
export const sqlName = (name: string): string => {
  assert(
    NAME.test(name) && name.length <= NAME_CHARACTERS_MAX,
    "a table or column has a name that SQL cannot take",
  );
  return `"${name}"`;
};

export const columnOf = (table: Table, name: string): Column => {
  const column = Object.hasOwn(table.columns, name) ? table.columns[name] : undefined;
  if (column === undefined) throw new Error(`table ${table.name} has no such column`);
  return column;
};

export const columnList = (table: Table, names: readonly string[]): string =>
  names.map((name) => columnName(table, name)).join(", ");

/** The quoted name of a column that the table has. */
export const columnName = (table: Table, name: string): string => {
  columnOf(table, name);
  return sqlName(name);
};

/** The values of the primary key in a row or a key. */
export const keyValues = (table: Table, row: Row): Value[] =>
  table.primaryKey.map((name) => row[name] ?? null);

/** Table and primary key of a row as one text: the same for equal keys of one table, and different for all others. */
export const keyText = (table: Table, row: Row): string => table.name + valuesText(table.primaryKey, row);

/** The length first, so that no value can look like the end of another. */
export const valuesText = (names: readonly string[], row: Row): string => {
  let text = "";
  for (const name of names) {
    const value = row[name];
    text += typeof value === "string" ? ` ${value.length}:${value}` : ` ${value}`;
  }
  return text;
};

export const rowText = (row: Row, name: string): string => {
  const value = row[name];
  if (typeof value !== "string") throw new TypeError(`the row has no text in ${name}`);
  return value;
};

export const rowInteger = (row: Row, name: string): number => {
  const value = row[name];
  if (typeof value !== "number") throw new TypeError(`the row has no integer in ${name}`);
  return value;
};
