/**
 * Most projections count each event once. The broker recognizes a repeated event for ten minutes only; the view `events` knows all events forever,
 * and runs before all others. So its rows decide whether a record is the first of its event.
 */
import type { EventFacts } from "../../event/facts.ts";
import { EVENTS, sequenceOf } from "../events/tables.ts";
import type { Row } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import type { FirstEvent, FirstEventProjection, Rule, StateKey, States, StoredRecord } from "./projection.ts";

export type { FirstEvent } from "./projection.ts";

interface FirstEventsRule extends Omit<Rule<FirstEvent>, "evolve" | "asksForEvents"> {
  evolve(states: States, events: readonly FirstEvent[]): readonly Write[];
}

export const onFirstEvents = ({ evolve, ...rule }: FirstEventsRule): FirstEventProjection => ({
  ...rule,
  takes: "first_events",
  asksForEvents: true,
  evolve: (states, events) => ({ writes: evolve(states, events) }),
});

/** The rows of EVENTS that say whether records are first ones. */
export const eventsKeys = (records: readonly StoredRecord[]): readonly StateKey[] =>
  records.filter(hasFacts).map(({ tenant, facts }) => ({ table: EVENTS, key: eventKey(tenant, facts) }));

/** A record without facts is a dead letter of the view `events`, and one dead letter is enough. */
export const hasFacts = (record: StoredRecord): record is FirstEvent => record.facts !== undefined;

export const isFirst = (states: States, { tenant, facts, sequence }: FirstEvent): boolean => {
  const row = states.get(EVENTS, eventKey(tenant, facts));
  return row !== undefined && sequenceOf(row) === sequence;
};

export const eventKey = (tenant: string, { eventId }: Pick<EventFacts, "eventId">): Row => ({
  tenant,
  event_id: eventId,
});
