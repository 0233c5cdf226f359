/** The rows that a group of records works on: as loaded, overlaid with what the group has written so far. */
import { strict as assert } from "node:assert";
import { checkKey, checkRow } from "../store/stored-values.ts";
import { type Row, rowInteger, type Table, type Value } from "../store/tables.ts";
import {
  isTextWrite,
  type RowWrite,
  type TextWrite,
  type ViewStore,
  type Write,
} from "../store/view-store.ts";
import { createKeyMap, type KeyMap } from "./key-map.ts";
import type { StateKey, States } from "./projection.ts";

export interface Overlay extends States {
  /** Loads what is not loaded yet: one call of `load` per table, however many records need rows. */
  fetch(stateKeys: readonly StateKey[]): Promise<void>;
  /** Applies all of them, or throws and applies none if one could not be stored. */
  apply(writes: readonly Write[]): void;
  /** The changes of the group: one write per row, however often it was written. */
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

export const createOverlay = ({ load }: Pick<ViewStore, "load">): Overlay => {
  const tables = new Map<Table, KeyMap<Place>>();
  /** In the order in which they were written: if one sequence is written twice, the store keeps the last. */
  const texts: TextWrite[] = [];

  const placesOf = (table: Table): KeyMap<Place> => {
    const known = tables.get(table);
    if (known) return known;
    const made = createKeyMap(table, newPlace);
    tables.set(table, made);
    return made;
  };
  const find = (table: Table, key: Row): Place | undefined => placesOf(table).get(key);
  const reach = (table: Table, key: Row): Place => placesOf(table).reach(key);
  /** The place of a write. Throws if the write could not be stored. */
  const checked = (write: RowWrite): Place => {
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

  return {
    fetch: createFetch(load, reach),
    isNamed: (table, key) => find(table, key)?.isKnown === true,
    get: (table, key) => {
      const place = find(table, key);
      assert(
        place?.isKnown,
        "a projection reads only rows that its stateKeys named or that this group wrote",
      );
      return place.row;
    },
    known: (table, shared) =>
      placesOf(table)
        .beside(shared)
        .map(({ row }) => row)
        .filter((row) => row !== undefined),
    apply: (writes) => {
      const rows = writes.filter((write) => !isTextWrite(write));
      const places = rows.map(checked);
      rows.forEach((write, index) => {
        const place = places[index];
        if (place) put(place, write);
      });
      for (const write of writes) if (isTextWrite(write)) texts.push(write);
    },
    writes: () => {
      const writes: Write[] = [];
      for (const places of tables.values())
        for (const { write } of places.all()) if (write) writes.push(write);
      for (const text of texts) writes.push(text);
      return writes;
    },
  };
};

const createFetch =
  (load: ViewStore["load"], reach: (table: Table, key: Row) => Place): Overlay["fetch"] =>
  async (stateKeys) => {
    const wanted = new Map<Table, Row[]>();
    const wantedOrBefore = new Map<Table, Row[]>();
    for (const { table, key, which } of stateKeys) {
      const place = reach(table, key);
      if (place.isKnown) continue;
      place.isKnown = which !== "at_or_before";
      const asked = place.isKnown ? wanted : wantedOrBefore;
      const keys = asked.get(table);
      if (keys) keys.push(key);
      else asked.set(table, [key]);
    }
    for (const [table, keys] of wanted)
      for (const row of await load(table, keys)) reach(table, row).row = row;
    for (const [table, keys] of wantedOrBefore) {
      for (const row of await load(table, keys, "at_or_before")) learn(reach(table, row), row);
      for (const key of keys) learn(reach(table, key), undefined);
    }
  };

/** A row that the group has already written there is newer. */
const learn = (place: Place, row: Row | undefined): void => {
  if (place.isKnown) return;
  place.isKnown = true;
  place.row = row;
};

const newPlace = (): Place => ({
  isKnown: false,
  row: undefined,
  write: undefined,
  sum: undefined,
});

const put = (place: Place, write: RowWrite): void => {
  if (write.kind === "add" && place.write?.kind === "add") {
    addTo(place, place.write, write);
    return;
  }
  // A row that was searched for and not found is new.
  const isNew = write.kind === "upsert" && place.isKnown && !place.row && !place.write;
  place.write = isNew ? { kind: "insert", table: write.table, row: write.row } : merged(place.write, write);
  if (write.kind === "add") return;
  place.isKnown = true;
  place.row = write.kind === "delete" ? undefined : write.row;
};

/** A row that was new for the group stays new for the database, unless it was deleted again. */
const merged = (before: RowWrite | undefined, write: RowWrite): RowWrite =>
  write.kind === "upsert" && before?.kind === "insert"
    ? { kind: "insert", table: write.table, row: write.row }
    : write;

const addTo = (
  place: Place,
  before: RowWrite & { kind: "add" },
  { table, row }: RowWrite & { kind: "add" },
): void => {
  let { sum } = place;
  if (sum === undefined) {
    sum = { ...before.row };
    place.sum = sum;
    place.write = { kind: "add", table, row: sum };
  }
  for (const name in row) {
    if (row[name] === 0 || table.primaryKey.includes(name)) continue;
    sum[name] = rowInteger(sum, name) + rowInteger(row, name);
  }
};
