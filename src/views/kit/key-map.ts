/** What is known of table rows, by their primary key; never undefined. */
import { type Row, type Table, type Value, valuesText } from "../store/tables.ts";

export interface KeyMap<Known> {
  get(key: Row): Known | undefined;
  /** What is known of the key; made of it if nothing is. */
  reach(key: Row): Known;
  /** What is known of the keys that differ only in the last column. */
  beside(shared: Row): readonly Known[];
  /** In the order in which the keys were first reached. */
  all(): readonly Known[];
}

export const createKeyMap = <Known>(table: Table, make: (key: Row) => Known): KeyMap<Known> => {
  const shared = table.primaryKey.slice(0, -1);
  const last = table.primaryKey.at(-1) ?? "";
  const groups = new Map<string, Map<Value | undefined, Known>>();
  const all: Known[] = [];
  return {
    get: (key) => groups.get(valuesText(shared, key))?.get(key[last]),
    reach: (key) => {
      const text = valuesText(shared, key);
      const group = groups.get(text) ?? new Map<Value | undefined, Known>();
      groups.set(text, group);
      const known = group.get(key[last]);
      if (known !== undefined) return known;
      const made = make(key);
      group.set(key[last], made);
      all.push(made);
      return made;
    },
    beside: (key) => [...(groups.get(valuesText(shared, key))?.values() ?? [])],
    all: () => all,
  };
};
