/** Reads and writes single rows through one SQLite connection. */
import { inSlices } from "./in-slices.ts";
import { INSERTS_PER_STATEMENT, KEYS_PER_SELECT, rowSql } from "./sql.ts";
import { constraintMessage, type Statements } from "./sqlite-connection.ts";
import { sqlitePacked, viewOf } from "./sqlite-terms.ts";
import { fromStored, toStored } from "./stored-rows.ts";
import { checkRow, putStored, storedKey } from "./stored-values.ts";
import type { Row, Table, Value } from "./tables.ts";
import { sqliteTextSql } from "./text-index.ts";
import { isTextWrite, type TextWrite, type WhichRows, type Write } from "./view-store.ts";

/** Makes the writes in order; the transaction must be rolled back if one of them fails. */
export const runWrites = (statements: Statements, writes: readonly Write[]): Promise<void> =>
  inSlices(statementsOf(writes), (each) => {
    if (each.kind === "inserts") runInserts(statements, each);
    else runWrite(statements, each);
  });

/** As many rows as one statement takes. */
interface Inserts {
  readonly kind: "inserts";
  /** `upsert`: rows that exist after all are written all the same. A decision takes 12 µs this way, and 18 one by one (measured). */
  readonly of: Insert["kind"];
  readonly table: Table;
  readonly rows: readonly Row[];
}

function* statementsOf(writes: readonly Write[]): Generator<Write | Inserts> {
  let index = 0;
  while (index < writes.length) {
    const inserts = insertsFrom(writes, index);
    const next = inserts ?? writes[index];
    if (next) yield next;
    index += inserts ? INSERTS_PER_STATEMENT : 1;
  }
}

/** Undefined if there are too few consecutive rows of one table. */
const insertsFrom = (writes: readonly Write[], start: number): Inserts | undefined => {
  const first = writes[start];
  if (!isInsert(first)) return undefined;
  const { table } = first;
  const rows: Row[] = [];
  for (let index = start; index < start + INSERTS_PER_STATEMENT; index++) {
    const write = writes[index];
    if (!isInsert(write) || write.kind !== first.kind || write.table !== table) return undefined;
    rows.push(write.row);
  }
  return { kind: "inserts", of: first.kind, table, rows };
};

type Insert = Extract<Write, { kind: "insert" | "upsert" }>;

const isInsert = (write: Write | undefined): write is Insert =>
  write?.kind === "insert" || (write?.kind === "upsert" && write.isLikelyNew === true);

const runInserts = (statements: Statements, { of, table, rows }: Inserts): void => {
  const values: Value[] = [];
  for (const row of rows) putStored(table, row, values);
  try {
    statements(rowSql(table).inserts).run(...values);
  } catch (error) {
    if (of === "insert" || constraintMessage(error) === undefined) throw error;
    // Rows before the existing one stay written (OR FAIL).
    for (const row of rows) runWrite(statements, { kind: "upsert", table, row });
  }
};

export const runWrite = (statements: Statements, write: Write): void => {
  if (isTextWrite(write)) {
    runTextWrite(statements, write);
    return;
  }
  const { table } = write;
  const sql = rowSql(table);
  if (write.kind === "delete") {
    statements(sql.delete).run(...storedKey(table, write.key));
    return;
  }
  const { row } = write;
  if (write.kind === "upsert" && write.indexed === "same" && sql.update !== undefined) {
    checkRow(table, row);
    statements(sql.update).run(...sql.updated.map((column) => toStored(row[column] ?? null)));
    return;
  }
  const values: Value[] = [];
  putStored(table, row, values);
  statements(sql[write.kind]).run(...values);
};

const runTextWrite = (statements: Statements, write: TextWrite): void => {
  const sql = sqliteTextSql(write.index);
  if (write.kind === "unindex") statements(sql.unindex).run(write.sequence);
  else {
    const packed = write.kind === "packed" ? write : sqlitePacked(write);
    statements(sql.index).run(packed.sequence, viewOf(packed));
  }
};

export const getRow = (statements: Statements, table: Table, key: Row): Row | undefined =>
  getStored(statements, table, storedKey(table, key));

const getStored = (statements: Statements, table: Table, key: readonly Value[]): Row | undefined => {
  const found = statements(rowSql(table).select).get(...key);
  return found && fromStored(found);
};

/** As ViewStore describes for `load`. */
export const getRows = (
  statements: Statements,
  table: Table,
  keys: readonly Row[],
  which: WhichRows = "at",
): readonly Row[] =>
  which === "at" ? getRowsAt(statements, table, keys) : getRowsAtOrBefore(statements, table, keys);

const getRowsAt = (statements: Statements, table: Table, keys: readonly Row[]): readonly Row[] => {
  const found: Row[] = [];
  for (const { shared, lasts } of keysByShared(table, keys)) {
    // In the order of the tree: inner pages shared by two keys are in the processor's cache for the second one.
    lasts.sort();
    let index = 0;
    for (; index + KEYS_PER_SELECT <= lasts.length; index += KEYS_PER_SELECT) {
      const some = lasts.slice(index, index + KEYS_PER_SELECT);
      for (const row of statements(rowSql(table).selects).all(...shared, ...some))
        found.push(fromStored(row));
    }
    for (const last of lasts.slice(index)) {
      const row = getStored(statements, table, [...shared, last]);
      if (row) found.push(row);
    }
  }
  return found;
};

const getRowsAtOrBefore = (statements: Statements, table: Table, keys: readonly Row[]): readonly Row[] =>
  keys.flatMap((key) => {
    const found = statements(rowSql(table).selectAtOrBefore).get(...storedKey(table, key));
    return found ? [fromStored(found)] : [];
  });

/** Keys that differ only in their last column. */
interface Keys {
  readonly shared: readonly Value[];
  readonly lasts: Value[];
}

const keysByShared = (table: Table, keys: readonly Row[]): Iterable<Keys> => {
  const found = new Map<string, Keys>();
  let current: Keys | undefined;
  for (const key of keys) {
    const shared = storedKey(table, key);
    const last = shared.pop() ?? null;
    // Records of one tenant are mostly consecutive.
    if (!current || !isSame(current.shared, shared)) {
      // Stored values contain no U+0000.
      const name = shared.join("\0");
      current = found.get(name) ?? { shared, lasts: [] };
      found.set(name, current);
    }
    current.lasts.push(last);
  }
  return found.values();
};

const isSame = (one: readonly Value[], other: readonly Value[]): boolean =>
  one.every((value, index) => value === other[index]);
