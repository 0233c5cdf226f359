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

/** What is known of one key: the row as it is now, and what has to be written for it. */
interface Slot {
  /** Whether it was loaded, or written whole: a row that is only added to is not known. */
  isKnown: boolean;
  row: Row | undefined;
  write: RowWrite | undefined;
}

export const createOverlay = (load: ViewStore["load"]): Overlay => {
  const slots = new Map<string, Slot>();
  const unread: RowWrite[] = [];
  /** In the order in which they were written: of two for one sequence the store keeps the last. */
  const texts: TextWrite[] = [];
  return {
    fetch: async (stateKeys) => {
      const wanted = new Map<Table, Row[]>();
      for (const { table, key } of stateKeys) {
        const text = keyText(table, key);
        if (slots.has(text)) continue;
        slots.set(text, { isKnown: true, row: undefined, write: undefined });
        const keys = wanted.get(table) ?? [];
        keys.push(key);
        wanted.set(table, keys);
      }
      for (const [table, keys] of wanted) {
        for (const row of await load(table, keys)) {
          slots.set(keyText(table, row), { isKnown: true, row, write: undefined });
        }
      }
    },
    isNamed: (table, key) => slots.get(keyText(table, key))?.isKnown === true,
    get: (table, key) => {
      const slot = slots.get(keyText(table, key));
      assert(slot?.isKnown, "a projection reads only rows that its stateKeys named or that this group wrote");
      return slot.row;
    },
    apply: (writes) => {
      const keys = writes.map((write) => (isTextWrite(write) ? undefined : checked(write, slots)));
      for (const [index, write] of writes.entries()) {
        const text = keys[index];
        if (isTextWrite(write)) texts.push(write);
        else if (text === undefined) unread.push(write);
        else put(slots, text, write);
      }
    },
    writes: () => [
      ...inTables([...slots.values()].flatMap(({ write }) => write ?? [])),
      ...inTables(unread),
      ...texts,
    ],
  };
};

const isTextWrite = (write: Write): write is TextWrite => write.kind === "index" || write.kind === "unindex";

/** The text of the write's key; undefined for a row that nobody asks for. Throws where the store would refuse it. */
const checked = (write: RowWrite, slots: ReadonlyMap<string, Slot>): string | undefined => {
  const { table } = write;
  if (write.kind === "delete") {
    checkKey(table, write.key);
    return keyText(table, write.key);
  }
  checkRow(table, write.row);
  if (write.kind === "insert" && table.isReadBack === false) return undefined;
  const text = keyText(table, write.row);
  const slot = slots.get(text);
  if (write.kind === "add")
    assert(!slot?.isKnown, "a row that is added to is not read by the same projection");
  if (write.kind === "insert") assert(slot?.row === undefined, "an inserted row is new");
  return text;
};

const put = (slots: Map<string, Slot>, text: string, write: RowWrite): void => {
  const slot = slots.get(text) ?? { isKnown: false, row: undefined, write: undefined };
  slot.write = merged(slot.write, write);
  if (write.kind !== "add") {
    slot.isKnown = true;
    slot.row = write.kind === "delete" ? undefined : write.row;
  }
  slots.set(text, slot);
};

/** Tables do not depend on each other, and no key stands twice: what goes into one table goes together. */
const inTables = (writes: readonly RowWrite[]): readonly RowWrite[] => {
  const tables = new Map<Table, RowWrite[]>();
  for (const write of writes) {
    const own = tables.get(write.table);
    if (own) own.push(write);
    else tables.set(write.table, [write]);
  }
  return [...tables.values()].flat();
};

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
