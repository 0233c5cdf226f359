/**
 * Remembers which keys a table does not have, for tables that are mostly asked for rows before they exist. To look for an absent key in a large tree
 * takes 4 µs, as everything on the way to it has left the processor's cache (measured with a million keys).
 *
 * What is remembered is a filter of the keys that exist. It holds while nobody else writes to the file: `PRAGMA data_version` changes with every
 * commit of another connection, and with none of one's own (sqlite.org/pragma.html).
 */
import { setImmediate as otherWork } from "node:timers/promises";
import { createKeyFilter, KEY_FILTER_KEYS_MAX, type KeyFilter } from "./key-filter.ts";
import type { Statements, Transactions } from "./sqlite-connection.ts";
import { getRows } from "./sqlite-rows.ts";
import { fromStored } from "./stored-rows.ts";
import { storedKey } from "./stored-values.ts";
import { columnList, type Row, sqlName, type Table, type Value } from "./tables.ts";
import type { ViewStore, Write } from "./view-store.ts";

export interface AbsentKeys {
  /** As ViewStore describes for `load`, within a read or a transaction of the writing connection. */
  load(...asked: Parameters<ViewStore["load"]>): readonly Row[];
  /** Before the writes are committed. */
  written(writes: readonly Write[]): void;
  /** Before tables are made, replaced or dropped. */
  forget(): void;
  /** Nothing is remembered from now on. */
  close(): void;
}

interface Memory {
  readonly filter: KeyFilter;
  /** Whether all keys that the table had before are in the filter. */
  isComplete: boolean;
}

/** Reading the keys of a table takes about a microsecond for each, so they are read when as many lookups have shown that it pays. */
export const MISSES_BEFORE_READING = 100_000;

export const createAbsentKeys = ({
  write,
  read,
  between,
}: {
  readonly write: Statements;
  readonly read: Statements;
  readonly between: Transactions["between"];
}): AbsentKeys => {
  const memories = new Map<string, Memory>();
  const misses = new Map<string, number>();
  let version: Value = null;
  let isClosed = false;

  const forget = (): void => {
    memories.clear();
    misses.clear();
  };
  const completeOf = (table: Table): Memory | undefined => {
    const now = fromStored(write("PRAGMA data_version").get() ?? {}).data_version ?? null;
    if (now !== version) forget();
    version = now;
    const memory = memories.get(table.name);
    return memory?.isComplete ? memory : undefined;
  };
  /** Keys that are committed meanwhile are added by `written`, or by another process, which `data_version` shows. */
  const readKeys = async (table: Table, memory: Memory): Promise<void> => {
    const sql = keySql(table);
    let count = 0;
    let keys = read(sql.first).all(KEYS_PER_PAGE).map(fromStored);
    for (;;) {
      for (const key of keys) memory.filter.add(key);
      count += keys.length;
      const last = keys.at(-1);
      if (!last || keys.length < KEYS_PER_PAGE) break;
      await otherWork();
      if (memories.get(table.name) !== memory) return;
      // From now on the filter would say nothing: it is dropped, and not begun again.
      if (count > KEY_FILTER_KEYS_MAX) {
        memories.delete(table.name);
        return;
      }
      keys = read(sql.next)
        .all(...storedKey(table, last), KEYS_PER_PAGE)
        .map(fromStored);
    }
    memory.isComplete = true;
  };
  const begin = async (table: Table): Promise<void> => {
    const memory: Memory = { filter: createKeyFilter(table), isComplete: false };
    // Keys of a transaction that is open now would be neither noted nor read.
    await between(async () => void memories.set(table.name, memory));
    if (isClosed) return;
    await readKeys(table, memory);
  };
  const missed = (table: Table, count: number): void => {
    if (isClosed || memories.has(table.name)) return;
    const before = misses.get(table.name) ?? 0;
    misses.set(table.name, before + count);
    if (before >= MISSES_BEFORE_READING || before + count < MISSES_BEFORE_READING) return;
    // If the file cannot be read now, lookups show it as well, and they are what counts.
    begin(table).catch(forget);
  };
  return {
    load: (table, keys, which) => {
      if (!table.isAskedForNewRows || which === "at_or_before") return getRows(write, table, keys, which);
      const memory = completeOf(table);
      const present = memory ? keys.filter(memory.filter.mayHave) : keys;
      const rows = getRows(write, table, present);
      missed(table, present.length - rows.length);
      return rows;
    },
    written: (writes) => {
      if (memories.size === 0) return;
      for (const each of writes)
        if (each.kind === "insert" || each.kind === "upsert" || each.kind === "add")
          memories.get(each.table.name)?.filter.add(each.row);
    },
    forget,
    close: () => {
      isClosed = true;
      forget();
    },
  };
};

const KEYS_PER_PAGE = 1000;

/** Only the index of the primary key is read. */
const keySql = (table: Table) => {
  const key = columnList(table, table.primaryKey);
  const select = `SELECT ${key} FROM ${sqlName(table.name)}`;
  const marks = table.primaryKey.map(() => "?").join(", ");
  return {
    first: `${select} ORDER BY ${key} LIMIT ?`,
    next: `${select} WHERE (${key}) > (${marks}) ORDER BY ${key} LIMIT ?`,
  };
};
