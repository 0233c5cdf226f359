/** The rows a group of records works on: as loaded, with what the group has written so far laid over them. */
import { strict as assert } from "node:assert";
import { checkKey, checkRow } from "../views/stored-values.ts";
import { type Row, rowInteger, type Table, type Value } from "../views/tables.ts";
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

/**
 * What is known of one key. Keys are found by the values of their columns, one level per column: a text made of the whole key would have to be made
 * and hashed at every look.
 */
interface Place {
  /** By the next column; undefined at the last. */
  below: Map<Value, Place> | undefined;
  /** Whether it was loaded, or written whole: a row that is only added to is not known. */
  isKnown: boolean;
  /** As it is now. */
  row: Row | undefined;
  /** What has to be written for it. */
  write: RowWrite | undefined;
  /** The row of `write` where that is a sum: nobody else has it, so more is added in place. */
  sum: Record<string, Value> | undefined;
}

interface TablePlaces {
  readonly root: Place;
  /** Of whole keys, in the order in which the group met them. */
  readonly all: Place[];
}

export const createOverlay = (load: ViewStore["load"]): Overlay => {
  const tables = new Map<Table, TablePlaces>();
  /** In the order in which they were written: of two for one sequence the store keeps the last. */
  const texts: TextWrite[] = [];

  const placesOf = (table: Table): TablePlaces => {
    const known = tables.get(table);
    if (known) return known;
    const made: TablePlaces = { root: newPlace(), all: [] };
    tables.set(table, made);
    return made;
  };
  const find = (table: Table, key: Row): Place | undefined => {
    let place: Place | undefined = placesOf(table).root;
    for (const name of table.primaryKey) place = place?.below?.get(key[name] ?? null);
    return place;
  };
  /** Where the rows are that differ in the last column of the key alone. */
  const above = (table: Table, shared: Row): Place | undefined => {
    let place: Place | undefined = placesOf(table).root;
    for (const name of table.primaryKey.slice(0, -1)) place = place?.below?.get(shared[name] ?? null);
    return place;
  };
  const reach = (table: Table, key: Row): Place => {
    const { root, all } = placesOf(table);
    let place = root;
    let isNew = false;
    for (const name of table.primaryKey) {
      const value = key[name] ?? null;
      const known = place.below?.get(value);
      isNew = known === undefined;
      place = known ?? newPlaceBelow(place, value);
    }
    if (isNew) all.push(place);
    return place;
  };
  /** Where the write goes. Throws where it could not be stored. */
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
      [...(above(table, shared)?.below?.values() ?? [])]
        .map(({ row }) => row)
        .filter((row) => row !== undefined),
    apply: (writes) => {
      const places = writes.map((write) => (isTextWrite(write) ? undefined : checked(write)));
      writes.forEach((write, index) => {
        const place = places[index];
        if (isTextWrite(write)) texts.push(write);
        else if (place) put(place, write);
      });
    },
    writes: () => {
      const writes: Write[] = [];
      for (const { all } of tables.values()) for (const write of newFirst(all)) writes.push(write);
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

/** What the group has written there already is newer. */
const learn = (place: Place, row: Row | undefined): void => {
  if (place.isKnown) return;
  place.isKnown = true;
  place.row = row;
};

const newPlace = (): Place => ({
  below: undefined,
  isKnown: false,
  row: undefined,
  write: undefined,
  sum: undefined,
});

const newPlaceBelow = (place: Place, value: Value): Place => {
  const made = newPlace();
  place.below ??= new Map();
  place.below.set(value, made);
  return made;
};

/** No key stands twice, so any order will do: rows that are new go together, which a database can write with fewer statements. */
const newFirst = (places: readonly Place[]): readonly RowWrite[] => {
  const inserts: RowWrite[] = [];
  const likely: RowWrite[] = [];
  const others: RowWrite[] = [];
  for (const { write } of places) {
    if (write?.kind === "insert") inserts.push(write);
    else if (write && isLikelyNew(write)) likely.push(write);
    else if (write) others.push(write);
  }
  for (const some of [likely, others]) for (const write of some) inserts.push(write);
  return inserts;
};

const isTextWrite = (write: Write): write is TextWrite => write.kind === "index" || write.kind === "unindex";

const put = (place: Place, write: RowWrite): void => {
  if (write.kind === "add" && place.write?.kind === "add") {
    addTo(place, place.write, write);
    return;
  }
  // What was looked for in vain is new.
  const isNew = write.kind === "upsert" && place.isKnown && !place.row && !place.write;
  place.write = isNew ? { kind: "insert", table: write.table, row: write.row } : merged(place.write, write);
  if (write.kind === "add") return;
  place.isKnown = true;
  place.row = write.kind === "delete" ? undefined : write.row;
};

const merged = (before: RowWrite | undefined, write: RowWrite): RowWrite => {
  if (write.kind === "upsert" && write.indexed === "same" && before && !isSame(before))
    return merged(before, { kind: "upsert", table: write.table, row: write.row });
  if (write.kind !== "upsert" || before === undefined) return write;
  // What was new for the group stays new for the database, unless it is gone again.
  const { table, row } = write;
  if (before.kind === "insert") return { kind: "insert", table, row };
  return isLikelyNew(before) ? { kind: "upsert", table, row, isLikelyNew: true } : write;
};

const isLikelyNew = (write: RowWrite): boolean => write.kind === "upsert" && write.isLikelyNew === true;

const isSame = (write: RowWrite): boolean => write.kind === "upsert" && write.indexed === "same";

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
