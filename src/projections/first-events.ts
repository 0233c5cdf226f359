/**
 * Most projections count each event once. The broker recognises a repeated event for ten minutes only; the view `events` knows them
 * for ever, and runs before all others (runner.ts). So whether a record is the first of its event is asked of its rows.
 */
import type { EventFacts } from "../event/facts.ts";
import type { Row } from "../views/tables.ts";
import type { ViewDefinition, Write } from "../views/view-store.ts";
import { EVENTS } from "./events/tables.ts";
import type { Projection, StateKey, States, StoredRecord } from "./projection.ts";

/** The first record of an event, and the only one that counts. */
export interface FirstEvent extends StoredRecord {
  readonly facts: EventFacts;
  readonly tenant: string;
}

export interface FirstEventsRule extends ViewDefinition {
  stateKeys(event: FirstEvent): readonly StateKey[];
  furtherKeys?(states: States, event: FirstEvent): readonly StateKey[];
  evolve(states: States, events: readonly FirstEvent[]): readonly Write[];
}

export const onFirstEvents = ({ stateKeys, furtherKeys, evolve, ...view }: FirstEventsRule): Projection => ({
  ...view,
  stateKeys: (record) => {
    const event = knownEvent(record);
    return event ? [{ table: EVENTS, key: eventKey(event) }, ...stateKeys(event)] : [];
  },
  ...(furtherKeys && {
    furtherKeys: (states: States, record: StoredRecord) => {
      const event = knownEvent(record);
      return event ? furtherKeys(states, event) : [];
    },
  }),
  evolve: (states, records) => {
    const firsts: FirstEvent[] = [];
    for (const record of records) {
      const event = knownEvent(record);
      if (event && states.get(EVENTS, eventKey(event))?.sequence === event.sequence) firsts.push(event);
    }
    return { writes: firsts.length === 0 ? [] : evolve(states, firsts) };
  },
});

/** What has no facts is a dead letter of the view `events`, once is enough. */
const knownEvent = (record: StoredRecord): FirstEvent | undefined =>
  record.facts && { ...record, facts: record.facts, tenant: record.record.tenant };

const eventKey = ({ tenant, facts }: FirstEvent): Row => ({ tenant, event_id: facts.eventId });
