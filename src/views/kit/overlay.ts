/** The rows that a batch of records works on: as loaded, overlaid with what the batch has written so far. */
import { strict as assert } from "node:assert";
import { type Row, rowInteger, type Table, type Value } from "../store/tables.ts";
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
  /** Applies all of them, or throws and applies none. */
  apply(writes: readonly Write[]): void;
  /** The changes of the batch: one write per row, however often it was written. */
  writes(): readonly Write[];
}

/** What is known of one key, or of the keys that begin with the same values: one text as the key would have to be made and hashed at each look. */
interface Place {
  /** By the value of the next column of the key. */
  below: Map<Value | undefined, Place> | undefined;
  /** Whether the row was loaded, or written whole: one that is only added to is not known. */
  isKnown: boolean;
  row: Row | undefined;
  /** The write that is needed for it. */
  write: RowWrite | undefined;
  /** The row of `write` if it is a sum: nobody else refers to it, so more is added in place. */
  sum: Record<string, Value> | undefined;
}

const newPlace = (): Place => ({
  below: undefined,
  isKnown: false,
  row: undefined,
  write: undefined,
  sum: undefined,
});

const placeBelow = (place: Place, value: Value | undefined): Place => {
  place.below ??= new Map();
  const known = place.below.get(value);
  if (known) return known;
  const made = newPlace();
  place.below.set(value, made);
  return made;
};

interface Known {
  readonly top: Place;
  readonly written: Place[];
}

export const createOverlay = ({ load }: Pick<ViewStore, "load">): Overlay => {
  const tables = new Map<Table, Known>();
  /** In the order in which they were written: if one sequence is written twice, the store keeps the last. */
  const texts: TextWrite[] = [];

  const knownOf = (table: Table): Known => {
    const known = tables.get(table) ?? { top: newPlace(), written: [] };
    if (known.top.below === undefined) tables.set(table, known);
    return known;
  };
  const find = (table: Table, key: Row): Place | undefined => {
    let place: Place | undefined = knownOf(table).top;
    for (const name of table.primaryKey) place = place?.below?.get(key[name]);
    return place;
  };
  const reach = (table: Table, key: Row): Place => {
    let place = knownOf(table).top;
    for (const name of table.primaryKey) place = placeBelow(place, key[name]);
    return place;
  };
  const put = (place: Place, write: RowWrite): void => {
    if (place.write === undefined) knownOf(write.table).written.push(place);
    change(place, write);
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
    known: (table, shared) => {
      let place: Place | undefined = knownOf(table).top;
      for (const name of table.primaryKey.slice(0, -1)) place = place?.below?.get(shared[name]);
      return [...(place?.below?.values() ?? [])].map(({ row }) => row).filter((row) => row !== undefined);
    },
    apply: (writes) => {
      const rows = writes.filter((write) => !isTextWrite(write));
      const places = rows.map((write) => {
        const place = reach(write.table, write.kind === "delete" ? write.key : write.row);
        if (write.kind === "add")
          assert(!place.isKnown, "a row that is added to is not read by the same projection");
        if (write.kind === "insert") assert(place.row === undefined, "an inserted row is new");
        return place;
      });
      rows.forEach((write, index) => {
        const place = places[index];
        if (place) put(place, write);
      });
      for (const write of writes) if (isTextWrite(write)) texts.push(write);
    },
    writes: () => {
      const writes: Write[] = [];
      for (const { written } of tables.values())
        for (const { write } of written) if (write) writes.push(write);
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

const change = (place: Place, write: RowWrite): void => {
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
