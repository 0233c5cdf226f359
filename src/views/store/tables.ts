/**
 * Describes a table once, as data. The SQL made from it works in SQLite and PostgreSQL. Rows are checked against the same description before a
 * database sees them (stored-rows.ts).
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

/** How a database writes the description of a table. */
export interface Dialect {
  readonly types: Readonly<Record<Column["type"], string>>;
  /** The columns of an index that it needs. */
  readonly indexed: (table: Table, names: readonly string[]) => readonly string[];
}

/** Both databases accept `bigint`: 8 bytes in PostgreSQL, integer affinity in SQLite. */
export const SQLITE: Dialect = {
  types: { text: "text", integer: "bigint" },
  indexed: (_, names) => names,
};

/** The statements that make a table and its indexes. */
export const tableDdl = (table: Table, dialect: Dialect = SQLITE): readonly string[] => {
  // Integers first: PostgreSQL would fill up to eight bytes before each that stands behind a text.
  const { integer = [], text = [] } = Object.groupBy(Object.entries(table.columns), ([, { type }]) => type);
  const columns = [...integer, ...text].map(
    ([name, { type, nullable }]) => `${sqlName(name)} ${dialect.types[type]}${nullable ? "" : " NOT NULL"}`,
  );
  const primaryKey = `PRIMARY KEY (${columnList(table, table.primaryKey)})`;
  return [
    `CREATE TABLE ${sqlName(table.name)} (${[...columns, primaryKey].join(", ")})`,
    ...table.indexes.map((names) => indexDdl(table, dialect.indexed(table, names), names)),
  ];
};

/** Where the order of an index ends, with what is unique: the end of the key, or a sequence; -1 if it does not. */
export const endOfOrder = ({ primaryKey }: Table, names: readonly string[]): number =>
  names.findIndex((name) => name === primaryKey.at(-1) || name === "sequence");

/** Nobody searches for rows without a value, so these need no place in the index. Columns after its order may have none. */
const indexDdl = (table: Table, indexed: readonly string[], names: readonly string[]): string => {
  const indexName = sqlName(shortName(`${table.name}_by_${names.join("_")}`));
  const end = endOfOrder(table, names);
  const filled = (end < 0 ? names : names.slice(0, end + 1)).filter((name) => columnOf(table, name).nullable);
  const condition = filled.map((name) => `${columnName(table, name)} IS NOT NULL`).join(" AND ");
  const made = `CREATE INDEX ${indexName} ON ${sqlName(table.name)} (${columnList(table, indexed)})`;
  return condition === "" ? made : `${made} WHERE ${condition}`;
};

/** PostgreSQL silently truncates longer names. */
const NAME_CHARACTERS_MAX = 63;
const DIGEST_CHARACTERS = 8;

/** A name that is too long is shortened and made unique by a digest. */
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

export const columnName = (table: Table, name: string): string => {
  columnOf(table, name);
  return sqlName(name);
};

const allColumns = (table: Table): string => columnList(table, Object.keys(table.columns));

/** One `?` per value. `rows`: the new rows, with every column in its order. */
export const insertSql = (table: Table, rows: string) => {
  const insert = `INSERT INTO ${sqlName(table.name)} (${allColumns(table)}) ${rows}`;
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

/** Rows in the order of the key; takes the key of the last row of the page before, if there is one, and the number of rows. */
export const pageSql = (table: Table, isFirst: boolean): string => {
  const key = columnList(table, table.primaryKey);
  const after = isFirst ? "" : ` WHERE (${key}) > (${table.primaryKey.map(() => "?").join(", ")})`;
  return `SELECT ${allColumns(table)} FROM ${sqlName(table.name)}${after} ORDER BY ${key} LIMIT ?`;
};

export const among = (column: string, values: readonly unknown[]): string =>
  `${column} IN (${values.map(() => "?").join(", ")})`;

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
