/**
 * Most projections count each event once. The broker recognises a repeated event for ten minutes only; the view `events` knows them
 * for ever, and runs before all others (runner.ts). So whether a record is the first of its event is asked of its rows.
 */
import type { EventFacts } from "../event/facts.ts";
import type { Row } from "../views/tables.ts";
import type { ViewDefinition, Write } from "../views/view-store.ts";
import { EVENTS, sequenceOf } from "./events/tables.ts";
import type { Projection, StateKey, States, StoredRecord } from "./projection.ts";

/** The first record of an event, and the only one that counts. */
export interface FirstEvent extends StoredRecord {
  readonly facts: EventFacts;
}

export interface FirstEventsRule extends ViewDefinition {
  stateKeys(event: FirstEvent): readonly StateKey[];
  furtherKeys?(states: States, event: FirstEvent): readonly StateKey[];
  evolve(states: States, events: readonly FirstEvent[]): readonly Write[];
}

export const onFirstEvents = ({ stateKeys, furtherKeys, evolve, ...view }: FirstEventsRule): Projection => ({
  ...view,
  stateKeys: (record) =>
    isKnown(record) ? [{ table: EVENTS, key: eventKey(record) }, ...stateKeys(record)] : [],
  ...(furtherKeys && {
    furtherKeys: (states: States, record: StoredRecord) =>
      isKnown(record) ? furtherKeys(states, record) : [],
  }),
  evolve: (states, records) => {
    const firsts = records.filter(isKnown).filter((event) => isFirst(states, event));
    return { writes: firsts.length === 0 ? [] : evolve(states, firsts) };
  },
});

/** What has no facts is a dead letter of the view `events`, once is enough. */
const isKnown = (record: StoredRecord): record is FirstEvent => record.facts !== undefined;

/** What was found for a record, which every projection of a lane asks for. */
const verdicts = new WeakMap<FirstEvent, boolean>();

const isFirst = (states: States, event: FirstEvent): boolean => {
  const known = verdicts.get(event);
  if (known !== undefined) return known;
  const row = states.get(EVENTS, eventKey(event));
  const verdict = row !== undefined && sequenceOf(row) === event.sequence;
  verdicts.set(event, verdict);
  return verdict;
};

const eventKey = ({ tenant, facts }: FirstEvent): Row => ({ tenant, event_id: facts.eventId });
