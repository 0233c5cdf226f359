/** Conditions on the rows of a table, and their SQL. Every other table that a condition names is restricted to the tenant here. */
import { columnName, sqlName, type Table } from "./tables.ts";
import type { Label, TextIndex, TextMatch } from "./text-index.ts";

/** Each database writes a TextMatch in its own language. */
export type QueryParameter = string | number | TextMatch;

export type Condition<Name extends string = string> =
  | { readonly kind: "equals"; readonly column: Name; readonly value: string | number }
  | { readonly kind: "one_of"; readonly column: Name; readonly values: readonly string[] }
  /** `from` is inside the range, `to` is not. */
  | {
      readonly kind: "range";
      readonly column: Name;
      readonly from?: string | number | undefined;
      readonly to?: string | number | undefined;
    }
  /** The same for a column of times that the text index also holds, under the column's name. */
  | {
      readonly kind: "within";
      readonly index: TextIndex;
      readonly column: Name;
      readonly from?: string | undefined;
      readonly to?: string | undefined;
    }
  /** The index has the label for the row's sequence. */
  | { readonly kind: "labelled"; readonly index: TextIndex; readonly label: Label }
  /** The index does not have the label for it. Beside it stands a condition on the index that holds for some rows. */
  | { readonly kind: "not_labelled"; readonly index: TextIndex; readonly label: Label }
  /** The index has all of these words for the row's sequence, and for each prefix a word that begins with it. */
  | {
      readonly kind: "matches";
      readonly index: TextIndex;
      readonly words: readonly string[];
      readonly prefixes: readonly string[];
    }
  /** The value occurs in this range of another table's column of the same name, so that an index is read at each of these values. */
  | {
      readonly kind: "among";
      readonly column: Name;
      readonly table: Table;
      readonly from: string;
      readonly to: string;
    };

/** A table in the FROM list. */
export interface Source {
  readonly alias: string;
  readonly table: Table;
}

export interface Clause {
  readonly text: string;
  readonly params: readonly QueryParameter[];
}

export const columnIn = ({ alias, table }: Source, name: string): string =>
  `${alias}.${columnName(table, name)}`;

export const columnsIn = (source: Source, names: readonly string[]): string =>
  names.map((name) => columnIn(source, name)).join(", ");

export const mainClauses = (condition: Condition, source: Source, tenant: string): readonly Clause[] => {
  switch (condition.kind) {
    case "equals":
      return [equals(source, condition.column, condition.value)];
    case "one_of": {
      const marks = condition.values.map(() => "?").join(", ");
      return [{ text: `${columnIn(source, condition.column)} IN (${marks})`, params: condition.values }];
    }
    case "range":
    case "within":
      return rangeClauses(columnIn(source, condition.column), condition);
    case "among": {
      const other = { alias: "other", table: condition.table };
      const column = columnIn(other, condition.column);
      const held = [equals(other, "tenant", tenant), ...rangeClauses(column, condition)];
      const from = `${sqlName(condition.table.name)} ${other.alias}`;
      const values = `SELECT DISTINCT ${column} FROM ${from} WHERE ${held.map(({ text }) => text).join(" AND ")}`;
      const text = `${columnIn(source, condition.column)} IN (${values})`;
      return [{ text, params: held.flatMap(({ params }) => params) }];
    }
    case "labelled":
    case "not_labelled":
    case "matches":
      return [];
  }
};

const rangeClauses = (
  column: string,
  { from, to }: { readonly from?: string | number | undefined; readonly to?: string | number | undefined },
): readonly Clause[] => [
  ...(from === undefined ? [] : [{ text: `${column} >= ?`, params: [from] }]),
  ...(to === undefined ? [] : [{ text: `${column} < ?`, params: [to] }]),
];

export const equals = (source: Source, name: string, value: string | number): Clause => ({
  text: `${columnIn(source, name)} = ?`,
  params: [value],
});
