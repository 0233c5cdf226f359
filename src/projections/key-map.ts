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
  const { placeOf, reach, beside } = keyLevels(table);
  const root: Level = new Map();
  const alone: Alone = [];
  const all: Known[] = [];
  return {
    get: (key) => {
      const place = placeOf(root, alone, key);
      return place === undefined ? undefined : all[place];
    },
    reach: (key) => {
      const known = all[reach(root, alone, key)];
      if (known !== undefined) return known;
      const made = make(key);
      all.push(made);
      return made;
    },
    beside: (shared) => beside(root, alone, shared).flatMap((place) => all[place] ?? []),
    all: () => all,
  };
};

/**
 * By the values of one column: the level of the next column, or the place of a key, which is the index of what is known of it. Before the last column
 * such a key is the only one with these values so far. Most keys with a time in them are: with a map for each, a group of 16,000 records had 27,000 of
 * them, and all of projecting took a hundredth more (measured).
 */
type Level = Map<Value, Level | number>;

/** By place: the key, if it is the only one with its values before the last column. One for each place that was reached. */
type Alone = (Row | undefined)[];

interface KeyLevels {
  placeOf(root: Level, alone: Alone, key: Row): number | undefined;
  /** The place of the key, which is the next one if it has none yet. */
  reach(root: Level, alone: Alone, key: Row): number;
  /** The places of the keys with these values in the columns before the last. */
  beside(root: Level, alone: Alone, shared: Row): readonly number[];
}

const generated = new WeakMap<Table, KeyLevels>();

const keyLevels = (table: Table): KeyLevels => {
  const known = generated.get(table);
  if (known) return known;
  // The names become part of a program, so they must be ones that SQL would accept too.
  for (const name of table.primaryKey) sqlName(name);
  const before = table.primaryKey.slice(0, -1);
  const last = table.primaryKey.at(-1) ?? "";
  const isSame = (names: readonly string[]): string =>
    names.map((name) => `alone[found].${name} === key.${name}`).join(" && ") || "true";
  const finding = (compared: readonly string[], found: string): string =>
    before
      .map((name, index) => {
        const others = compared.slice(index + 1);
        return `found = level.get(key.${name});
          if (typeof found !== "object") return found !== undefined && ${isSame(others)} ? ${found} : none;
          level = found;`;
      })
      .join("\n");
  const reaching = before.map((name, index) => {
    const [next = "", ...others] = table.primaryKey.slice(index + 1);
    return `found = level.get(key.${name});
      if (found === undefined) {
        level.set(key.${name}, alone.length);
        return alone.push(key) - 1;
      }
      if (typeof found === "number") {
        if (${isSame([next, ...others])}) return found;
        const below = new Map([[alone[found].${next}, found]]);
        ${others.length === 0 ? "alone[found] = undefined;" : ""}
        level.set(key.${name}, below);
        found = below;
      }
      level = found;`;
  });
  const made: KeyLevels = new Function(`return {
    placeOf: (level, alone, key) => {
      let found, none;
      ${finding(table.primaryKey, "found")}
      return level.get(key.${last});
    },
    reach: (level, alone, key) => {
      let found;
      ${reaching.join("\n")}
      found = level.get(key.${last});
      if (found !== undefined) return found;
      level.set(key.${last}, alone.length);
      return alone.push(undefined) - 1;
    },
    beside: (level, alone, key) => {
      let found, none = [];
      ${finding(before, "[found]")}
      return [...level.values()];
    },
  }`)();
  generated.set(table, made);
  return made;
};
