/** The rows a group of records works on: as loaded, with what the group has written so far laid over them. */
import { strict as assert } from "node:assert";
import { checkKey, checkRow, type Row, rowInteger, type Table, type Value } from "../views/tables.ts";
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

/** Slots by the values of their keys, one level per column: a text made of the whole key would have to be made and hashed at every look. */
interface Level {
  /** Undefined for the last column. */
  below: Map<Value, Level> | undefined;
  slot: Slot | undefined;
}

interface TableSlots {
  readonly root: Level;
  /** In the order in which the group met them. */
  readonly slots: Slot[];
}

export const createOverlay = (load: ViewStore["load"]): Overlay => {
  const tables = new Map<Table, TableSlots>();
  const unread = new Map<Table, RowWrite[]>();
  /** In the order in which they were written: of two for one sequence the store keeps the last. */
  const texts: TextWrite[] = [];

  const slotsOf = (table: Table): TableSlots => {
    const known = tables.get(table);
    if (known) return known;
    const made: TableSlots = { root: newLevel(), slots: [] };
    tables.set(table, made);
    return made;
  };
  const find = (table: Table, key: Row): Slot | undefined => {
    let level: Level | undefined = slotsOf(table).root;
    for (const name of table.primaryKey) level = level?.below?.get(key[name] ?? null);
    return level?.slot;
  };
  const reach = (table: Table, key: Row): Slot => {
    const { root, slots } = slotsOf(table);
    let level = root;
    for (const name of table.primaryKey) level = levelBelow(level, key[name] ?? null);
    if (level.slot) return level.slot;
    const slot: Slot = { isKnown: false, row: undefined, write: undefined };
    level.slot = slot;
    slots.push(slot);
    return slot;
  };
  const check = (write: RowWrite): void => {
    const { table } = write;
    if (write.kind === "delete") {
      checkKey(table, write.key);
      return;
    }
    checkRow(table, write.row);
    if (write.kind === "upsert" || isUnread(write)) return;
    const slot = find(table, write.row);
    if (write.kind === "add")
      assert(!slot?.isKnown, "a row that is added to is not read by the same projection");
    else assert(slot?.row === undefined, "an inserted row is new");
  };

  return {
    fetch: async (stateKeys) => {
      const wanted = new Map<Table, Row[]>();
      for (const { table, key } of stateKeys) {
        const slot = reach(table, key);
        if (slot.isKnown) continue;
        slot.isKnown = true;
        const keys = wanted.get(table);
        if (keys) keys.push(key);
        else wanted.set(table, [key]);
      }
      for (const [table, keys] of wanted)
        for (const row of await load(table, keys)) reach(table, row).row = row;
    },
    isNamed: (table, key) => find(table, key)?.isKnown === true,
    get: (table, key) => {
      const slot = find(table, key);
      assert(slot?.isKnown, "a projection reads only rows that its stateKeys named or that this group wrote");
      return slot.row;
    },
    apply: (writes) => {
      for (const write of writes) if (!isTextWrite(write)) check(write);
      for (const write of writes) {
        const { kind } = write;
        if (kind === "index" || kind === "unindex") texts.push(write);
        else if (isUnread(write)) push(unread, write);
        else put(reach(write.table, kind === "delete" ? write.key : write.row), write);
      }
    },
    // Tables do not depend on each other, and no key stands twice: what goes into one table goes together.
    writes: () => [
      ...[...tables.values()].flatMap(({ slots }) => slots.flatMap(({ write }) => write ?? [])),
      ...[...unread.values()].flat(),
      ...texts,
    ],
  };
};

const newLevel = (): Level => ({ below: undefined, slot: undefined });

const levelBelow = (level: Level, value: Value): Level => {
  const below = level.below ?? new Map<Value, Level>();
  level.below = below;
  const known = below.get(value);
  if (known) return known;
  const made = newLevel();
  below.set(value, made);
  return made;
};

const isTextWrite = (write: Write): write is TextWrite => write.kind === "index" || write.kind === "unindex";

/** A row that nobody asks for. */
const isUnread = ({ kind, table }: RowWrite): boolean => kind === "insert" && table.isReadBack === false;

const push = (writes: Map<Table, RowWrite[]>, write: RowWrite): void => {
  const own = writes.get(write.table);
  if (own) own.push(write);
  else writes.set(write.table, [write]);
};

const put = (slot: Slot, write: RowWrite): void => {
  slot.write = merged(slot.write, write);
  if (write.kind === "add") return;
  slot.isKnown = true;
  slot.row = write.kind === "delete" ? undefined : write.row;
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
