/** Rows as databases store them: checked against the description of their table, and back; and the rows of the store's own tables. */
import { columnOf, type Row, rowText, type Table, type Value } from "./tables.ts";
import { fromStoredText, toStoredText } from "./text.ts";
import {
  DEAD_LETTERS,
  type DeadLetter,
  VIEW_ENDS,
  VIEW_REVISIONS,
  VIEWS,
  type ViewDefinition,
  type Write,
} from "./view-store.ts";

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

export const OWN_TABLES: readonly Table[] = [VIEWS, DEAD_LETTERS, VIEW_REVISIONS, VIEW_ENDS];

/** All tables are in the order in which a search reads them (tenant-query.ts). */
export const newViewRow = ({ name, version, tables, textIndexes = [] }: ViewDefinition): Row => ({
  name,
  version,
  position: 0,
  tables: JSON.stringify([...textIndexes, ...tables].map((each) => each.name)),
});

/** The names of the tables with which the view was made, from its row. */
export const tablesIn = (viewRow: Row): readonly string[] => JSON.parse(rowText(viewRow, "tables"));

export const deadLetterWrite = ({ eventId, recordedAt, ...letter }: DeadLetter): Write => ({
  kind: "upsert",
  table: DEAD_LETTERS,
  row: { ...letter, event_id: eventId, recorded_at: recordedAt },
});
