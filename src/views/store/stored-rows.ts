/** The common part of all databases: values as they are stored, and the rows of the store's own tables. */
import { type Row, rowText, type Table, type Value } from "./tables.ts";
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

export const storedParameter = (value: string | number): string | number =>
  typeof value === "string" ? toStoredText(value) : value;

type StoredRow = Readonly<Record<string, unknown>>;

export const fromStored = (stored: StoredRow): Row => {
  const row: Record<string, Value> = {};
  for (const name in stored) row[name] = valueFromStored(name, stored[name]);
  return row;
};

const valueFromStored = (name: string, value: unknown): Value => {
  if (typeof value === "string") return fromStoredText(value);
  if (typeof value === "number" || value === null) return value;
  throw new Error(`column ${name} holds something that was not written here`);
};

/** Both absent, or equal in every column. */
export const isSameRow = (one: Row | undefined, other: Row | undefined): boolean => {
  if (!one || !other) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
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

export const deadLetterWrite = (letter: DeadLetter): Write => ({
  kind: "upsert",
  table: DEAD_LETTERS,
  row: {
    projection: letter.projection,
    sequence: letter.sequence,
    tenant: letter.tenant,
    event_id: letter.eventId,
    code: letter.code,
    detail: letter.detail,
    recorded_at: letter.recordedAt,
  },
});
