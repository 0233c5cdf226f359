/** Maps with several values as the key, one level of maps for each. One text as the key would have to be made and hashed for every event. */
export type Level<Below> = Map<string, Below>;

/** The level below a value, created if there is none. */
export const below = <Below>(level: Level<Level<Below>>, value: string): Level<Below> => {
  const known = level.get(value);
  if (known) return known;
  const made: Level<Below> = new Map();
  level.set(value, made);
  return made;
};
