/** The shape of a read model of things: an event is about one thing or none, which is read once for a batch, grows with each of its events, and is written once. */
import type { Write } from "../store/view-store.ts";
import { type FirstEvent, onFirstEvents } from "./first-events.ts";
import { below, type Level } from "./nested-maps.ts";
import type { FirstEventProjection, Rule, StateKey, States } from "./projection.ts";

interface ThingsRule<Thing> extends Omit<Rule<FirstEvent>, "stateKeys" | "evolve" | "asksForEvents"> {
  /** Which thing of its tenant an event is about. */
  idOf(event: FirstEvent): string | undefined;
  /** The rows from which the thing is read. */
  keysOf(event: FirstEvent): readonly StateKey[];
  /** As all earlier batches left it; `event` is its first in this one. */
  read(states: States, event: FirstEvent): Thing;
  /** Changes it in place. */
  grow(thing: Thing, event: FirstEvent, states: States): void;
  writesOf(thing: Thing, tenant: string, id: string): readonly Write[];
}

export const ofThings = <Thing>(described: ThingsRule<Thing>): FirstEventProjection => {
  const { idOf, keysOf, read, grow, writesOf, ...rule } = described;
  return onFirstEvents({
    ...rule,
    stateKeys: (events) => events.filter((event) => idOf(event) !== undefined).flatMap(keysOf),
    evolve: (states, events) => {
      const tenants: Level<Level<Thing>> = new Map();
      for (const event of events) {
        const id = idOf(event);
        if (id === undefined) continue;
        const things = below(tenants, event.tenant);
        const thing = things.get(id) ?? read(states, event);
        things.set(id, thing);
        grow(thing, event, states);
      }
      return [...tenants].flatMap(([tenant, things]) =>
        [...things].flatMap(([id, thing]) => writesOf(thing, tenant, id)),
      );
    },
  });
};
