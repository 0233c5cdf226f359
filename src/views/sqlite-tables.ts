/** The tables of views in a SQLite file: creating them, remaking them beside the old ones, and dropping them. */
import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { inSlices } from "./in-slices.ts";
import { newViewRow, OWN_TABLES, tablesIn } from "./stored-rows.ts";
import { type Row, rowText, sqlName, type Table, tableDdl } from "./tables.ts";
import { sqliteTextIndexDdl } from "./text-index.ts";
import type { ViewDefinition } from "./view-store.ts";

/** The tables of the store itself. Checked again inside the transaction: another process may have made them meanwhile. */
export const makeOwnTables = (writer: DatabaseSync): void => {
  if (OWN_TABLES.every((table) => hasTable(writer, table))) return;
  writer.exec("BEGIN IMMEDIATE");
  for (const table of OWN_TABLES) if (!hasTable(writer, table)) makeTable(writer, table);
  writer.exec("COMMIT");
};

const hasTable = (database: DatabaseSync, table: Table): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table.name) !==
  undefined;

const makeTable = (database: DatabaseSync, table: Table): void => {
  const [create = "", ...indexes] = tableDdl(table);
  // If a row is hardly longer than its key, a table with a rowid beside the index of the key would hold nearly everything twice.
  const isKeyAndCounts = Object.entries(table.columns).every(
    ([name, { type }]) => type === "integer" || table.primaryKey.includes(name),
  );
  for (const sql of [isKeyAndCounts ? `${create} WITHOUT ROWID` : create, ...indexes]) database.exec(sql);
};

export const makeTables = (database: DatabaseSync, view: ViewDefinition): void => {
  for (const table of view.tables) makeTable(database, table);
  makeTextIndexes(database, view);
};

const makeTextIndexes = (database: DatabaseSync, { textIndexes = [] }: ViewDefinition): void => {
  for (const sql of textIndexes.flatMap(sqliteTextIndexDdl)) database.exec(sql);
};

export const dropView = (database: DatabaseSync, view: Row): void => {
  for (const name of tablesIn(view)) database.exec(`DROP TABLE ${sqlName(name)}`);
  forgetView(database, view);
};

/** The view's entries in the store's own tables. */
const forgetView = (database: DatabaseSync, view: Row): void => {
  database.prepare("DELETE FROM dead_letters WHERE projection = ?").run(rowText(view, "name"));
  database.prepare("DELETE FROM view_ends WHERE name = ?").run(rowText(view, "name"));
};

/** What to do with the old tables. If the disk has no room to keep them for a while, they are dropped at once. */
export type Before = "aside" | "dropped";

/**
 * Makes the view's tables in place of those of another version, which are renamed or dropped. Indexes keep their names when their table is renamed:
 * so the new tables are made under unused names and then renamed. Renaming takes SQLite milliseconds, however large the table is (measured). Returns
 * the names of leftovers.
 */
export const remakeTables = async (
  database: DatabaseSync,
  known: Row,
  view: ViewDefinition,
  before: Before,
): Promise<readonly string[]> => {
  const leftovers = await clearPlace(database, known, before);
  const mark = newMark();
  await inSlices(view.tables, (table) => {
    const made = `${table.name}__${mark}`;
    makeTable(database, { ...table, name: made });
    renameTable(database, made, table.name);
  });
  makeTextIndexes(database, view);
  return leftovers;
};

/** Frees the names of the view's tables. Returns the names of leftovers. */
export const clearPlace = async (
  database: DatabaseSync,
  known: Row,
  before: Before,
): Promise<readonly string[]> => {
  if (before === "dropped") {
    dropView(database, known);
    return [];
  }
  const end = `${LEFTOVER}${newMark()}`;
  const names = tablesIn(known);
  const own = names.filter((name) => !isLeftover(name));
  await inSlices(own, (name) => renameTable(database, name, `${name}${end}`));
  forgetView(database, known);
  return [...names.filter(isLeftover), ...own.map((name) => `${name}${end}`)];
};

/** Leftovers are listed among the view's own tables: a version that does not know of leftovers drops them together when it remakes the view. */
export const viewRowBeside = (view: ViewDefinition, leftovers: readonly string[]): Row => {
  const row = newViewRow(view);
  return { ...row, tables: JSON.stringify([...tablesIn(row), ...leftovers]) };
};

/** Letters and digits that no name has had. */
const newMark = (): string => randomBytes(4).toString("hex");

export const renameTable = (database: DatabaseSync, from: string, to: string): void =>
  database.exec(`ALTER TABLE ${sqlName(from)} RENAME TO ${sqlName(to)}`);

export const isLeftover = (table: string): boolean => table.includes(LEFTOVER);

/** No name of a shadow has this ending (projections/shadow.ts). */
export const LEFTOVER = "__left_";
