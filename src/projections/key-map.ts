/**
 * What is known of table rows, by their primary key; never undefined. There is one level of maps for each column: one text of the whole key would have
 * to be made and hashed at every look.
 *
 * Each table has functions of its own, generated as text, for the reason that views/stored-values.ts has: one loop over the key columns of all tables
 * meets another shape of row at every step.
 */
import { type Row, sqlName, type Table, type Value } from "../views/tables.ts";

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
  const { placeOf, reach, lastLevel } = keyLevels(table);
  const root: Level = new Map();
  const all: Known[] = [];
  return {
    get: (key) => {
      const place = placeOf(root, key);
      return place === undefined ? undefined : all[place];
    },
    reach: (key) => {
      const known = all[reach(root, key, all.length)];
      if (known !== undefined) return known;
      const made = make(key);
      all.push(made);
      return made;
    },
    beside: (shared) => [...(lastLevel(root, shared)?.values() ?? [])].flatMap((place) => all[place] ?? []),
    all: () => all,
  };
};

/** By the values of one column: the levels of the columns after it. Behind the last column stands a place: the index of what is known of the key. */
type Level = Map<Value, Level | number>;

interface KeyLevels {
  placeOf(root: Level, key: Row): number | undefined;
  /** The place of the key, which is `next` if it has none yet. */
  reach(root: Level, key: Row, next: number): number;
  /** The level of the last column, for the values that a key has in those before it. */
  lastLevel(root: Level, shared: Row): Map<Value, number> | undefined;
}

const generated = new WeakMap<Table, KeyLevels>();

const keyLevels = (table: Table): KeyLevels => {
  const known = generated.get(table);
  if (known) return known;
  // The names become part of a program, so they must be ones that SQL would accept too.
  for (const name of table.primaryKey) sqlName(name);
  const before = table.primaryKey.slice(0, -1);
  const last = table.primaryKey.at(-1);
  const lastLevel = before.reduce((level, name) => `${level}?.get(key.${name})`, "root");
  const steps = before.map(
    (name) => `let below_${name} = level.get(key.${name});
      if (below_${name} === undefined) level.set(key.${name}, below_${name} = new Map());
      level = below_${name};`,
  );
  const reach = `let level = root;
    ${steps.join("\n")}
    const place = level.get(key.${last});
    if (place !== undefined) return place;
    level.set(key.${last}, next);
    return next;`;
  const made: KeyLevels = new Function(`return {
    placeOf: (root, key) => ${lastLevel}?.get(key.${last}),
    reach: (root, key, next) => { ${reach} },
    lastLevel: (root, key) => ${lastLevel},
  }`)();
  generated.set(table, made);
  return made;
};
