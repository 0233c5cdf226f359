import { type Chance, createChance } from "../../../src/cli/demo/journal.ts";

export { type Chance, createChance };

/** The same events in a possible order of arrival: mostly in order, some late, some very late. */
export const asTheyArrive = <Item>(events: readonly Item[], seed: number): readonly Item[] => {
  const chance = createChance(seed);
  return events
    .map((event, index) => {
      const delay = chance.is(0.1) ? chance.below(events.length) : chance.below(20);
      return { event, place: index + delay };
    })
    .sort((one, other) => one.place - other.place)
    .map(({ event }) => event);
};
