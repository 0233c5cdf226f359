/** The rows a group of records works on: as loaded, with what the group has written so far laid over them. */
import { strict as assert } from "node:assert";
import {
  checkKey,
  checkRow,
  keyText,
  type Row,
  rowInteger,
  type Table,
  type Value,
} from "../views/tables.ts";
import type { RowWrite, TextWrite, ViewStore, Write } from "../views/view-store.ts";
import type { StateKey, States } from "./projection.ts";

export interface Overlay extends States {
  /** Loads what is not here yet: one call of `load` per table, however many records ask. */
  fetch(stateKeys: readonly StateKey[]): Promise<void>;
  /** All of them or, where one could not be stored, none: then it throws. */
  apply(writes: readonly Write[]): void;
  /** What the group has changed: one write per row, however often it was written. */
  writes(): readonly Write[];
}

export const createOverlay = (load: ViewStore["load"]): Overlay => {
  const rows = new Map<string, Row | undefined>();
  const changed = new Map<string, RowWrite>();
  const texts = new Map<string, TextWrite>();
  return {
    fetch: async (stateKeys) => {
      const wanted = new Map<Table, Row[]>();
      for (const { table, key } of stateKeys) {
        const text = keyText(table, key);
        if (rows.has(text)) continue;
        rows.set(text, undefined);
        const keys = wanted.get(table) ?? [];
        keys.push(key);
        wanted.set(table, keys);
      }
      for (const [table, keys] of wanted) {
        for (const row of await load(table, keys)) rows.set(keyText(table, row), row);
      }
    },
    isNamed: (table, key) => rows.has(keyText(table, key)),
    get: (table, key) => {
      const text = keyText(table, key);
      assert(
        rows.has(text),
        "a projection reads only rows that its stateKeys named or that this group wrote",
      );
      return rows.get(text);
    },
    apply: (writes) => {
      const changes = writes.filter(isRowWrite).map((write) => changeOf(write, rows));
      for (const { text, row, write } of changes) {
        if (row !== NOT_KNOWN) rows.set(text, row);
        changed.set(text, merged(changed.get(text), write));
      }
      for (const write of writes)
        if (!isRowWrite(write)) texts.set(`${write.index.name} ${write.sequence}`, write);
    },
    writes: () => [...changed.values(), ...texts.values()],
  };
};

/** Rows that are only added to are not loaded, so nobody knows them. */
const NOT_KNOWN = Symbol("not known");

const isRowWrite = (write: Write): write is RowWrite => write.kind !== "index" && write.kind !== "unindex";

const merged = (before: RowWrite | undefined, write: RowWrite): RowWrite => {
  if (before?.kind === "add" && write.kind === "add")
    return { ...write, row: sum(write.table, before.row, write.row) };
  if (write.kind === "upsert" && write.indexed === "same" && before && !isSame(before))
    return merged(before, { kind: "upsert", table: write.table, row: write.row });
  // What was new for the group stays new for the database, unless it is gone again.
  return before?.kind === "insert" && write.kind === "upsert" ? { ...write, kind: "insert" } : write;
};

const isSame = (write: RowWrite): boolean => write.kind === "upsert" && write.indexed === "same";

const sum = (table: Table, one: Row, other: Row): Row => {
  const row: Record<string, Value> = { ...one };
  for (const name in other) {
    if (!table.primaryKey.includes(name)) row[name] = rowInteger(one, name) + rowInteger(other, name);
  }
  return row;
};

/** What the write leaves under its key. Throws where the store would refuse it. */
const changeOf = (write: RowWrite, rows: ReadonlyMap<string, Row | undefined>) => {
  const { table } = write;
  if (write.kind === "delete") {
    checkKey(table, write.key);
    return { text: keyText(table, write.key), row: undefined, write } as const;
  }
  checkRow(table, write.row);
  const text = keyText(table, write.row);
  if (write.kind === "add") {
    assert(!rows.has(text), "a row that is added to is not read by the same projection");
    return { text, row: NOT_KNOWN, write } as const;
  }
  assert(write.kind === "upsert" || rows.get(text) === undefined, "an inserted row is new");
  return { text, row: write.row, write };
};
