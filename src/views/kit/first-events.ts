/**
 * Most projections count each event once. The broker recognizes a repeated event for ten minutes only; the view `events` knows all events forever,
 * and runs before all others (runner.ts). So its rows decide whether a record is the first of its event.
 */
import type { EventFacts } from "../../event/facts.ts";
import { EVENTS, sequenceOf } from "../events/tables.ts";
import type { Row } from "../store/tables.ts";
import type { ViewDefinition, Write } from "../store/view-store.ts";
import type { RecordProjection, StateKey, States, StoredRecord, Told } from "./projection.ts";

/** The first record of an event, the only one that counts. */
export interface FirstEvent extends StoredRecord {
  readonly facts: EventFacts;
  readonly told: Told;
}

export interface FirstEventsRule
  extends ViewDefinition,
    Pick<RecordProjection, "besideLog" | "builtOn" | "expireAlike"> {
  /** Also called for events that turn out not to be first ones. */
  stateKeys(events: readonly FirstEvent[]): readonly StateKey[];
  furtherKeys?(states: States, event: FirstEvent): readonly StateKey[];
  evolve(states: States, events: readonly FirstEvent[]): readonly Write[];
}

export const onFirstEvents = ({
  stateKeys,
  furtherKeys,
  evolve,
  ...view
}: FirstEventsRule): RecordProjection => ({
  ...view,
  asksForEvents: true,
  stateKeys: (records) => stateKeys(knownOf(records)),
  ...(furtherKeys && {
    furtherKeys: (states: States, record: StoredRecord) =>
      isKnown(record) ? furtherKeys(states, record) : [],
  }),
  evolve: (states, records) => {
    const firsts = firstsOf(states, records);
    return { writes: firsts.length === 0 ? [] : evolve(states, firsts) };
  },
});

/** The rows of EVENTS that say whether records are first ones. */
export const eventsKeys = (records: readonly StoredRecord[]): readonly StateKey[] =>
  knownOf(records).map(({ tenant, facts }) => ({ table: EVENTS, key: eventKey(tenant, facts) }));

/** A record without facts is a dead letter of the view `events`, and one dead letter is enough. */
const isKnown = (record: StoredRecord): record is FirstEvent =>
  record.facts !== undefined && record.told !== undefined;

/** Cached, because every projection of a lane asks for the same records, one after another. */
const known = new WeakMap<readonly StoredRecord[], readonly FirstEvent[]>();
const firsts = new WeakMap<readonly StoredRecord[], readonly FirstEvent[]>();

const knownOf = (records: readonly StoredRecord[]): readonly FirstEvent[] => {
  const found = known.get(records) ?? records.filter(isKnown);
  known.set(records, found);
  return found;
};

/** The records that are the first of their events, in their order. */
export const firstsOf = (states: States, records: readonly StoredRecord[]): readonly FirstEvent[] => {
  const found = firsts.get(records) ?? knownOf(records).filter((event) => isFirst(states, event));
  firsts.set(records, found);
  return found;
};

const isFirst = (states: States, event: FirstEvent): boolean => {
  const row = states.get(EVENTS, eventKey(event.tenant, event.facts));
  return row !== undefined && sequenceOf(row) === event.sequence;
};

export const eventKey = (tenant: string, { eventId }: Pick<EventFacts, "eventId">): Row => ({
  tenant,
  event_id: eventId,
});
