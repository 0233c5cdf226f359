/** The rows that a batch of records works on: as loaded, overlaid with what the batch has written so far. */
import { strict as assert } from "node:assert";
import { checkKey, checkRow } from "../store/stored-values.ts";
import { type Row, rowInteger, type Table, type Value, valuesText } from "../store/tables.ts";
import {
  isTextWrite,
  type RowWrite,
  type TextWrite,
  type ViewStore,
  type Write,
} from "../store/view-store.ts";
import type { StateKey, States } from "./projection.ts";

export interface Overlay extends States {
  /** Loads what is not loaded yet: one call of `load` per table, however many records need rows. */
  fetch(stateKeys: readonly StateKey[]): Promise<void>;
  /** Applies all of them, or throws and applies none if one could not be stored. */
  apply(writes: readonly Write[]): void;
  /** The changes of the batch: one write per row, however often it was written. */
  writes(): readonly Write[];
}

/** What is known of one key. */
interface Place {
  /** Whether it was loaded, or written whole: a row that is only added to is not known. */
  isKnown: boolean;
  /** The current row. */
  row: Row | undefined;
  /** The write that is needed for it. */
  write: RowWrite | undefined;
  /** The row of `write` if it is a sum: nobody else refers to it, so more is added in place. */
  sum: Record<string, Value> | undefined;
}

/** What is known of a table's rows: first by all values of the key but the last, then by that one. */
interface Places {
  readonly shared: readonly string[];
  readonly last: string;
  readonly groups: Map<string, Map<Value | undefined, Place>>;
}

const NONE: ReadonlyMap<Value | undefined, Place> = new Map();

export const createOverlay = ({ load }: Pick<ViewStore, "load">): Overlay => {
  const tables = new Map<Table, Places>();
  /** In the order in which they were written: if one sequence is written twice, the store keeps the last. */
  const texts: TextWrite[] = [];

  const placesOf = (table: Table): Places => {
    const known = tables.get(table);
    if (known) return known;
    const { primaryKey } = table;
    const made = { shared: primaryKey.slice(0, -1), last: primaryKey.at(-1) ?? "", groups: new Map() };
    tables.set(table, made);
    return made;
  };
  const find = (table: Table, key: Row): Place | undefined => {
    const { shared, last, groups } = placesOf(table);
    return groups.get(valuesText(shared, key))?.get(key[last]);
  };
  const reach = (table: Table, key: Row): Place => {
    const { shared, last, groups } = placesOf(table);
    const text = valuesText(shared, key);
    const group = groups.get(text) ?? new Map<Value | undefined, Place>();
    if (group.size === 0) groups.set(text, group);
    const known = group.get(key[last]);
    if (known) return known;
    const made: Place = { isKnown: false, row: undefined, write: undefined, sum: undefined };
    group.set(key[last], made);
    return made;
  };

  return {
    fetch: async (stateKeys) => {
      const wanted = { at: new Map<Table, Row[]>(), at_or_before: new Map<Table, Row[]>() };
      for (const { table, key, which = "at" } of stateKeys) {
        const place = reach(table, key);
        if (place.isKnown) continue;
        place.isKnown = which === "at";
        const keys = wanted[which].get(table);
        if (keys) keys.push(key);
        else wanted[which].set(table, [key]);
      }
      for (const [table, keys] of wanted.at)
        for (const row of await load(table, keys)) reach(table, row).row = row;
      for (const [table, keys] of wanted.at_or_before) {
        for (const row of await load(table, keys, "at_or_before")) learn(reach(table, row), row);
        for (const key of keys) learn(reach(table, key), undefined);
      }
    },
    isNamed: (table, key) => find(table, key)?.isKnown === true,
    get: (table, key) => {
      const place = find(table, key);
      assert(place?.isKnown, "a projection reads only rows that it named or that this batch wrote");
      return place.row;
    },
    known: (table, key) => {
      const { shared, groups } = placesOf(table);
      const group = groups.get(valuesText(shared, key)) ?? NONE;
      return [...group.values()].map(({ row }) => row).filter((row) => row !== undefined);
    },
    apply: (writes) => {
      const rows = writes.filter((write) => !isTextWrite(write));
      const places = rows.map((write) => checked(reach, write));
      rows.forEach((write, index) => {
        const place = places[index];
        if (place) put(place, write);
      });
      for (const write of writes) if (isTextWrite(write)) texts.push(write);
    },
    writes: () => {
      const writes: Write[] = [];
      for (const places of tables.values())
        for (const group of places.groups.values())
          for (const { write } of group.values()) if (write) writes.push(write);
      for (const text of texts) writes.push(text);
      return writes;
    },
  };
};

/** A row that the batch has already written there is newer. */
const learn = (place: Place, row: Row | undefined): void => {
  if (place.isKnown) return;
  place.isKnown = true;
  place.row = row;
};

/** The place of a write. Throws if the write could not be stored. */
const checked = (reach: (table: Table, key: Row) => Place, write: RowWrite): Place => {
  const { table } = write;
  if (write.kind === "delete") {
    checkKey(table, write.key);
    return reach(table, write.key);
  }
  checkRow(table, write.row);
  const place = reach(table, write.row);
  if (write.kind === "add")
    assert(!place.isKnown, "a row that is added to is not read by the same projection");
  if (write.kind === "insert") assert(place.row === undefined, "an inserted row is new");
  return place;
};

const put = (place: Place, write: RowWrite): void => {
  const before = place.write;
  if (write.kind === "add") {
    if (before?.kind === "add") addTo(place, before.row, write);
    else place.write = write;
    return;
  }
  const row = write.kind === "delete" ? undefined : write.row;
  // A row that was searched for and not found is new; one that was new for the batch stays new for the database, unless it was deleted again.
  const isNew = before ? before.kind === "insert" : place.isKnown && place.row === undefined;
  place.write = row && isNew ? { kind: "insert", table: write.table, row } : write;
  place.isKnown = true;
  place.row = row;
};

const addTo = (place: Place, before: Row, { table, row }: RowWrite & { kind: "add" }): void => {
  let { sum } = place;
  if (sum === undefined) {
    sum = { ...before };
    place.sum = sum;
    place.write = { kind: "add", table, row: sum };
  }
  for (const name in row) {
    if (row[name] === 0 || table.primaryKey.includes(name)) continue;
    sum[name] = rowInteger(sum, name) + rowInteger(row, name);
  }
};
