/**
 * Checks rows against the description of their table, and makes their values for SQLite. Each table has functions of its own, generated as text with
 * its columns by name: one loop over the columns of all tables meets another shape of row at every step, which no compiler can optimize, and makes
 * all of projecting a twentieth slower (measured). Descriptions of tables are part of this program; nothing that a customer sends becomes part of the
 * text.
 */
import { columnOf, type Row, sqlName, type Table, type Value } from "./tables.ts";
import { toStoredText } from "./text.ts";

/** Throws if the row is not one that the table can hold; never quotes a value. */
export const checkRow = (table: Table, row: Row): void => valuesOf(table).checkRow(row, NOWHERE);

/** The same for a primary key: exactly its columns. */
export const checkKey = (table: Table, key: Row): void => valuesOf(table).checkKey(key, NOWHERE);

/** Adds the values in the order of the description. Throws like checkRow. */
export const putStored = (table: Table, row: Row, into: Value[]): void => valuesOf(table).putRow(row, into);

/** Adds only the values of a primary key. Throws like checkKey. */
export const storedKey = (table: Table, key: Row): Value[] => {
  const values: Value[] = [];
  valuesOf(table).putKey(key, values);
  return values;
};

/** For functions that only check. */
type Put = (row: Row, into: Value[]) => void;
const NOWHERE: Value[] = [];

type ValuesOf = Readonly<Record<"checkRow" | "checkKey" | "putRow" | "putKey", Put>>;

const made = new WeakMap<Table, ValuesOf>();

const valuesOf = (table: Table): ValuesOf => {
  const known = made.get(table);
  if (known) return known;
  const names = Object.keys(table.columns);
  const { primaryKey } = table;
  const values: ValuesOf = {
    checkRow: compiled(table, names, ""),
    checkKey: compiled(table, primaryKey, ""),
    putRow: compiled(table, names, putting(table, names)),
    putKey: compiled(table, primaryKey, putting(table, primaryKey)),
  };
  made.set(table, values);
  return values;
};

/** Checks the columns, then uses their values, which are in v0, v1 and so on. */
const compiled = (table: Table, names: readonly string[], then: string): Put => {
  const lines = names.map((name, index) => {
    // The name becomes part of a program, so it must be one that SQL would accept too.
    sqlName(name);
    const { type, nullable } = columnOf(table, name);
    const isWrong = type === "text" ? `typeof v${index} !== "string"` : `!Number.isSafeInteger(v${index})`;
    return `const v${index} = row.${name};
      if (${nullable ? `v${index} !== null && ` : ""}${isWrong}) refuse(${index});`;
  });
  const text = `return (row, into) => {
    ${lines.join("\n")}
    if (Object.keys(row).length !== ${names.length}) refuseOthers();
    ${then}
  };`;
  const refuse = (index: number): never => {
    const name = names[index] ?? "";
    const { type, nullable } = columnOf(table, name);
    throw new Error(`${table.name}.${name} takes ${nullable ? "null or " : ""}${type}`);
  };
  const refuseOthers = (): never => {
    throw new Error(`what is written to ${table.name} has ${names.join(", ")} and no other columns`);
  };
  return new Function("refuse", "refuseOthers", "stored", text)(refuse, refuseOthers, toStoredText);
};

const putting = (table: Table, names: readonly string[]): string => {
  const values = names.map((name, index) => {
    const { type, nullable } = columnOf(table, name);
    if (type !== "text") return `v${index}`;
    return nullable ? `v${index} === null ? null : stored(v${index})` : `stored(v${index})`;
  });
  return `into.push(${values.join(", ")});`;
};
