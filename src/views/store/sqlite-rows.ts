/** Reads and writes single rows through one SQLite connection. */
import { inSlices } from "./in-slices.ts";
import { rowSql } from "./sql.ts";
import type { Statements } from "./sqlite-connection.ts";
import { fromStored } from "./stored-rows.ts";
import { storedKey, storedRow } from "./stored-values.ts";
import type { Row, Table } from "./tables.ts";
import { rowTerms, sqliteTextSql } from "./text-index.ts";
import { isTextWrite, type WhichRows, type Write } from "./view-store.ts";

/** Makes the writes in order; the transaction must be rolled back if one of them fails. */
export const runWrites = (statements: Statements, writes: readonly Write[]): Promise<void> =>
  inSlices(writes, (write) => runWrite(statements, write));

export const runWrite = (statements: Statements, write: Write): void => {
  if (isTextWrite(write)) {
    const { index, unindex } = sqliteTextSql(write.index);
    if (write.kind === "unindex") statements(unindex).run(write.sequence);
    else statements(index).run(write.sequence, rowTerms(write));
    return;
  }
  const { table } = write;
  const sql = rowSql(table)[write.kind];
  statements(sql).run(
    ...(write.kind === "delete" ? storedKey(table, write.key) : storedRow(table, write.row)),
  );
};

export const getRow = (statements: Statements, table: Table, key: Row): Row | undefined =>
  getRows(statements, table, [key])[0];

/** As ViewStore describes for `load`. */
export const getRows = (
  statements: Statements,
  table: Table,
  keys: readonly Row[],
  which: WhichRows = "at",
): readonly Row[] => {
  const { select, selectAtOrBefore } = rowSql(table);
  const sql = which === "at" ? select : selectAtOrBefore;
  const rows: Row[] = [];
  for (const key of keys) {
    const found = statements(sql).get(...storedKey(table, key));
    if (found) rows.push(fromStored(found));
  }
  return rows;
};
