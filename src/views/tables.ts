/**
 * A table described once, as data. The SQL made from it is plain enough for SQLite and PostgreSQL. What a row
 * may hold is checked against the same description before a database sees it (stored-values.ts).
 */
import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";

export interface Column {
  readonly type: "text" | "integer";
  readonly nullable?: true;
}

export const TEXT = { type: "text" } as const satisfies Column;
export const NULLABLE_TEXT = { type: "text", nullable: true } as const satisfies Column;
/** Below 2^53, so that it is a number everywhere. */
export const INTEGER = { type: "integer" } as const satisfies Column;

export const NULLABLE_INTEGER = { type: "integer", nullable: true } as const satisfies Column;

export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly primaryKey: readonly string[];
  /**
   * The columns of each index. Of two that serve a list the later one is read (tenant-query.ts), so the more selective one comes later. Behind the columns of
   * the order may stand others that are filtered by: what they refuse is passed over in the index, without a look at its row.
   */
  readonly indexes: readonly (readonly string[])[];
  /** Made only where text indexes hold no times (periods.ts): ranges of time are looked up in these. */
  readonly timeIndexes?: readonly (readonly string[])[];
}

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;
export type ColumnOf<Described extends Table> = keyof Described["columns"] & string;
export type RowOf<Described extends Table> = {
  readonly [Name in ColumnOf<Described>]: ValueOf<Described["columns"][Name]>;
};
/** A row while it is counted up. */
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

export const timeIndexDdl = (table: Table): readonly string[] =>
  (table.timeIndexes ?? []).map((names) => indexDdl(table, names));

export type SqlTypes = Readonly<Record<Column["type"], string>>;

/** Both databases know `bigint`: 8 bytes in PostgreSQL, integer affinity in SQLite. */
export const SQL_TYPES: SqlTypes = { text: "text", integer: "bigint" };

const columnDdl = (name: string, column: Column, types: SqlTypes): string =>
  `${sqlName(name)} ${types[column.type]}${column.nullable ? "" : " NOT NULL"}`;

/**
 * Nobody looks for rows without a value, so rows without one need no place in the index; of what stands behind its order, which
 * ends as the key does, they may be without.
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

/** PostgreSQL cuts longer names off without a word. */
const NAME_CHARACTERS_MAX = 63;
const DIGEST_CHARACTERS = 8;

/** Names of indexes are made of others, and those of tables that are made again of even more: what does not fit is told apart by a digest. */
const shortName = (name: string): string => {
  if (name.length <= NAME_CHARACTERS_MAX) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST_CHARACTERS);
  return `${name.slice(0, NAME_CHARACTERS_MAX - DIGEST_CHARACTERS - 1)}_${digest}`;
};

const NAME = /^[a-z][a-z0-9_]*$/;

/** A name that comes from a description, in quotes because `key` and `value` are also words of SQL. */
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

/** The name for SQL of a column that the table has. */
export const columnName = (table: Table, name: string): string => {
  columnOf(table, name);
  return sqlName(name);
};

/** The values of the primary key in a row or a key. */
export const keyValues = (table: Table, row: Row): Value[] =>
  table.primaryKey.map((name) => row[name] ?? null);

const indexedColumns = new WeakMap<Table, readonly string[]>();

/** Columns beside the key that stand in an index. */
export const indexedBesideKey = (table: Table): readonly string[] => {
  const known = indexedColumns.get(table);
  if (known) return known;
  const names = [...new Set(table.indexes.flat())].filter((name) => !table.primaryKey.includes(name));
  indexedColumns.set(table, names);
  return names;
};

/** Table and primary key of a row as one text: equal for equal keys of one table and for no others. */
export const keyText = (table: Table, row: Row): string => {
  let text = table.name;
  for (const name of table.primaryKey) {
    const value = row[name];
    // The length first, so that no value can look like the end of another. JSON.stringify takes three times as long.
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
