/**
 * Describes a table once, as data. The SQL made from it works in SQLite and PostgreSQL. Rows are checked against the same description before a
 * database sees them.
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

/** A row is not one that its table can hold. Never quotes a value. */
export class UnstorableError extends Error {
  override readonly name = "UnstorableError";
}

/** Makes the values of these columns in their order, of rows that have them and no others. */
export const storing = (table: Table, names: readonly string[]): ((row: Row) => Value[]) => {
  const columns = names.map((name) => ({ name, ...columnOf(table, name) }));
  return (row) => {
    let own = 0;
    for (const _ in row) own++;
    if (own !== columns.length)
      throw new UnstorableError(`what is written to ${table.name} has other columns than it`);
    return columns.map(({ name, type, nullable }) => {
      const value = row[name];
      if (typeof value === "string" && type === "text") return toStoredText(value);
      if (typeof value === "number" && type === "integer" && Number.isSafeInteger(value)) return value;
      if (value === null && nullable) return value;
      throw new UnstorableError(`${table.name}.${name} takes ${nullable ? "null or " : ""}${type}`);
    });
  };
};

export const toStored = <Stored extends Value>(value: Stored): Stored | string =>
  typeof value === "string" ? toStoredText(value) : value;

export const fromStored = (stored: Readonly<Record<string, unknown>>): Row => {
  const row: Record<string, Value> = {};
  for (const name in stored) {
    const value = stored[name];
    if (typeof value === "string") row[name] = fromStoredText(value);
    else if (typeof value === "number" || value === null) row[name] = value;
    else throw new Error(`column ${name} holds something that was not written here`);
  }
  return row;
};

/** Both absent, or equal in every column. */
export const isSameRow = (one: Row | undefined, other: Row | undefined): boolean => {
  if (!one || !other) return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
};

/**
 * Stores texts of customers in text columns so that every JavaScript string comes back unchanged. PostgreSQL refuses U+0000, Deno's node:sqlite
 * truncates a text there when reading (measured, 2.9.6), and UTF-8 cannot represent half a surrogate pair: two different texts would become one.
 *
 * These characters are written as ESC and three hexadecimal digits. ESC, because the JSON text of an event cannot contain it unescaped (RFC 8259 §7),
 * so that the events themselves are stored byte for byte. Three digits, so that none takes more than four bytes, the most that UTF-8 takes for any
 * other character: an index row of PostgreSQL has room for 2704. They are enough, because halves of pairs are counted from U+D000 on, U+D800 as 800,
 * and the others are below that.
 */
const ESCAPE = "\u001b";
const DIGITS = 3;
const HALVES_FROM = 0xd000;
const FIRST_HALF = 0xd800;

/** Halves of pairs are among these even where both halves are there. */
const UNUSUAL = new RegExp(`[\0${ESCAPE}\ud800-\udfff]`);
/** Up to this length one look for all of them takes half the time of three (measured). */
const SHORT_CHARACTERS_MAX = 100;

export const toStoredText = (text: string): string => {
  if (text.length <= SHORT_CHARACTERS_MAX && !UNUSUAL.test(text)) return text;
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(ESCAPE)) return text;
  let stored = "";
  for (const character of text) stored += isStorable(character) ? character : escapeOf(character);
  return stored;
};

/** The order of texts in the databases: by the bytes of what is stored. */
export const compareStored = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(toStoredText(one)), Buffer.from(toStoredText(other)));

export const fromStoredText = (stored: string): string => {
  if (!stored.includes(ESCAPE)) return stored;
  const [head = "", ...escaped] = stored.split(ESCAPE);
  return head + escaped.map((part) => characterOf(part.slice(0, DIGITS)) + part.slice(DIGITS)).join("");
};

const isStorable = (character: string): boolean =>
  character !== "\0" && character !== ESCAPE && character.isWellFormed();

const escapeOf = (character: string): string => {
  const code = character.charCodeAt(0);
  return ESCAPE + (code < FIRST_HALF ? code : code - HALVES_FROM).toString(16).padStart(DIGITS, "0");
};

const characterOf = (digits: string): string => {
  const code = Number.parseInt(digits, 16);
  return String.fromCharCode(code < FIRST_HALF - HALVES_FROM ? code : code + HALVES_FROM);
};
