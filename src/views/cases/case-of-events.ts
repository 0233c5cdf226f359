/** The case of a decision among events that are in no view, found by the same rules as among those that are. For the sandbox. */

import { eventFacts, readEvent } from "../../event/facts.ts";
import { timeKey } from "../../event/formats.ts";
import { type Fact, factOf } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import type { StoredEvent } from "../events/queries.ts";
import { nodesWith } from "./evolve.ts";
import { EMPTY, nodeName } from "./nodes.ts";
import { caseAround, type FoundCase } from "./queries.ts";

export interface EventsOfCase extends FoundCase {
  readonly texts: ReadonlyMap<string, string>;
}

/** `events` from the first to the last: of those with one event_id the first counts. */
export const caseOfEvents = (
  tenant: string,
  events: readonly Pick<StoredEvent, "sequence" | "receivedAt" | "eventText">[],
  asked: { readonly decision: string; readonly rules: Rules },
): EventsOfCase | undefined => {
  const texts = new Map<string, string>();
  const made: Fact[] = [];
  for (const { sequence, receivedAt, eventText } of events) {
    const facts = eventFacts(readEvent(eventText));
    if (facts === undefined || texts.has(facts.eventId)) continue;
    texts.set(facts.eventId, eventText);
    made.push(factOf(facts, sequence, timeKey(receivedAt)));
  }
  const node = nodesWith(tenant, made);
  const start = nodeName("decision", asked.decision);
  return node(start) === EMPTY
    ? undefined
    : { ...caseAround(tenant, start, { node, rules: asked.rules }), texts };
};
