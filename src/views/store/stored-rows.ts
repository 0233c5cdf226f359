/** Rows as databases store them: checked against the description of their table, and back; and the rows of the store's own tables. */
import { columnOf, type Row, rowText, type Table, type Value } from "./tables.ts";
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
