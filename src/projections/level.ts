/**
 * What is told apart by several values, one level of maps for each. A text made of all of them would have to be made and hashed for every event.
 */
export type Level<Below> = Map<string, Below>;

/** The level under a value, made where there is none. */
export const below = <Below>(level: Level<Level<Below>>, value: string): Level<Below> => {
  const known = level.get(value);
  if (known) return known;
  const made: Level<Below> = new Map();
  level.set(value, made);
  return made;
};
