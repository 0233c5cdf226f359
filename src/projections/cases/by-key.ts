import type { Row, Table, Value } from "../../views/tables.ts";

/**
 * Values of table rows by their keys: one level of maps per column of the key. One text of the whole key would have to be made and hashed for every
 * row of every case.
 */
export interface ByKey<Known> {
  get(row: Row): Known | undefined;
  set(row: Row, known: Known): void;
  /** In the order in which the keys were set. */
  all(): readonly Known[];
}

interface Place<Known> {
  below: Map<Value, Place<Known>> | undefined;
  known: Known | undefined;
}

export const createByKey = <Known>({ primaryKey }: Table): ByKey<Known> => {
  const root: Place<Known> = { below: undefined, known: undefined };
  const places = new Set<Place<Known>>();
  return {
    get: (row) => {
      let place: Place<Known> | undefined = root;
      for (const name of primaryKey) place = place?.below?.get(row[name] ?? null);
      return place?.known;
    },
    set: (row, known) => {
      let place = root;
      for (const name of primaryKey) place = reach(place, row[name] ?? null);
      place.known = known;
      places.add(place);
    },
    all: () => [...places].flatMap(({ known }) => known ?? []),
  };
};

const reach = <Known>(place: Place<Known>, value: Value): Place<Known> => {
  place.below ??= new Map();
  const there = place.below.get(value);
  if (there) return there;
  const made: Place<Known> = { below: undefined, known: undefined };
  place.below.set(value, made);
  return made;
};
