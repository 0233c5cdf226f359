/** The tables of views in a SQLite file: creating and dropping them. */
import type { DatabaseSync } from "node:sqlite";
import { OWN_TABLES, tablesIn } from "./stored-rows.ts";
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
  for (const sql of (view.textIndexes ?? []).flatMap(sqliteTextIndexDdl)) database.exec(sql);
};

export const dropView = (database: DatabaseSync, view: Row): void => {
  for (const name of tablesIn(view)) database.exec(`DROP TABLE ${sqlName(name)}`);
  database.prepare("DELETE FROM dead_letters WHERE projection = ?").run(rowText(view, "name"));
  database.prepare("DELETE FROM view_ends WHERE name = ?").run(rowText(view, "name"));
};

export const renameTable = (database: DatabaseSync, from: string, to: string): void =>
  database.exec(`ALTER TABLE ${sqlName(from)} RENAME TO ${sqlName(to)}`);
