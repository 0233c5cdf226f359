/** The tables of views in a SQLite file: made, made again beside those of before, and dropped. */
import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { inSlices } from "./in-slices.ts";
import { newViewRow, OWN_TABLES, tablesIn } from "./stored-rows.ts";
import { type Row, rowText, sqlName, type Table, tableDdl } from "./tables.ts";
import { sqliteTextIndexDdl } from "./text-index.ts";
import type { ViewDefinition } from "./view-store.ts";

/** Those of the store itself. Looks again inside the transaction: another process may have made them meanwhile. */
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
  // Where a row is hardly longer than its key, a row store beside the index of the key would hold nearly everything twice.
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

/** What stands of the view in the tables of all. */
const forgetView = (database: DatabaseSync, view: Row): void => {
  database.prepare("DELETE FROM dead_letters WHERE projection = ?").run(rowText(view, "name"));
  database.prepare("DELETE FROM view_ends WHERE name = ?").run(rowText(view, "name"));
};

/** What becomes of the tables of before. Where the disk has no room to keep them for a while they are dropped at once. */
export type Before = "aside" | "dropped";

/**
 * In the place of those of another version, which move aside, or are dropped. Indexes keep their names where a table gets another: so the new ones are made
 * under names that no table had, and are renamed then. A name takes SQLite milliseconds, however much is in the table (measured). Gives the names of leftovers.
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

/** The names of the view's tables are free afterwards. Gives those of leftovers. */
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

/** Leftovers stand beside the view's own tables: a version that knows nothing of them, and makes the view again, drops them with these. */
export const viewRowBeside = (view: ViewDefinition, leftovers: readonly string[]): Row => {
  const row = newViewRow(view);
  return { ...row, tables: JSON.stringify([...tablesIn(row), ...leftovers]) };
};

/** Letters and digits that no name had. */
const newMark = (): string => randomBytes(4).toString("hex");

export const renameTable = (database: DatabaseSync, from: string, to: string): void =>
  database.exec(`ALTER TABLE ${sqlName(from)} RENAME TO ${sqlName(to)}`);

export const isLeftover = (table: string): boolean => table.includes(LEFTOVER);

/** No name of a shadow goes on so (projections/shadow.ts). */
export const LEFTOVER = "__left_";
