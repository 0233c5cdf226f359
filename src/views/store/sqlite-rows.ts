/** Rows of described tables and text indexes in SQLite, one statement each. */
import { inSlices } from "./in-slices.ts";
import { insertSql } from "./sql.ts";
import type { Statements } from "./sqlite-connection.ts";
import { fromStored } from "./stored-rows.ts";
import { storedKey, storedRow } from "./stored-values.ts";
import { columnName, type Row, sqlName, type Table, tableDdl } from "./tables.ts";
import { createRowTerms, sqliteTermsText } from "./text-index.ts";
import { isTextWrite, type WhichRows, type Write } from "./view-store.ts";

type SqliteSql = ReturnType<typeof makeSql>;

export const createSqliteRows = () => {
  /** Made once per table, because it is needed for every row. */
  const made = new WeakMap<Table, SqliteSql>();
  const sqlOf = (table: Table): SqliteSql => {
    const sql = made.get(table) ?? makeSql(table);
    made.set(table, sql);
    return sql;
  };
  return {
    /** Makes the writes in order; the transaction must be rolled back if one of them fails. */
    runWrites: (statements: Statements, writes: readonly Write[]): Promise<void> => {
      const rowTerms = createRowTerms();
      return inSlices(writes, (write) => {
        if (!isTextWrite(write)) {
          const { kind, table } = write;
          const values = kind === "delete" ? storedKey(table, write.key) : storedRow(table, write.row);
          statements(sqlOf(table)[kind]).run(...values);
          return;
        }
        const name = sqlName(write.index.name);
        if (write.kind === "unindex") statements(`DELETE FROM ${name} WHERE rowid = ?`).run(write.sequence);
        // Without OR REPLACE, FTS5 accepts a rowid a second time and finds it by the words of both (measured with 3.54).
        else
          statements(`INSERT OR REPLACE INTO ${name} (rowid, terms) VALUES (?, ?)`).run(
            write.sequence,
            sqliteTermsText(rowTerms(write)),
          );
      });
    },
    /** As ViewStore describes for `load`. */
    load: (
      statements: Statements,
      table: Table,
      keys: readonly Row[],
      which: WhichRows = "at",
    ): readonly Row[] => {
      const { select, selectAtOrBefore } = sqlOf(table);
      const sql = which === "at" ? select : selectAtOrBefore;
      const rows: Row[] = [];
      for (const key of keys) {
        const found = statements(sql).get(...storedKey(table, key));
        if (found) rows.push(fromStored(found));
      }
      return rows;
    },
  };
};

const makeSql = (table: Table) => {
  const names = Object.keys(table.columns);
  const name = sqlName(table.name);
  const matches = table.primaryKey.map((key) => `${columnName(table, key)} = ?`).join(" AND ");
  const select = `SELECT ${names.map(sqlName).join(", ")} FROM ${name} WHERE`;
  const last = columnName(table, table.primaryKey.at(-1) ?? "");
  return {
    ...insertSql(table, `VALUES (${names.map(() => "?").join(", ")})`),
    delete: `DELETE FROM ${name} WHERE ${matches}`,
    select: `${select} ${matches}`,
    selectAtOrBefore: `${select} ${matches.replace(/= \?$/, "<= ?")} ORDER BY ${last} DESC LIMIT 1`,
  };
};

export const sqliteTableDdl = (table: Table): readonly string[] => {
  const [create = "", ...indexes] = tableDdl(table);
  // If a row is hardly longer than its key, a table with a rowid beside the index of the key would hold nearly everything twice.
  const isKeyAndCounts = Object.entries(table.columns).every(
    ([name, { type }]) => type === "integer" || table.primaryKey.includes(name),
  );
  return [isKeyAndCounts ? `${create} WITHOUT ROWID` : create, ...indexes];
};
