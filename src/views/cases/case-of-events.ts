/** The case of a decision among events that are in no view, found by the same rules as among those that are. For the sandbox. */

import { eventFacts } from "../../event/facts.ts";
import { timeKey } from "../../event/formats.ts";
import { readEvent } from "../../event/read-event.ts";
import { type Fact, factOf } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import type { StoredEvent } from "../events/queries.ts";
import { rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import { nodeRowsOf } from "./evolve.ts";
import { type FoundCase, findCase } from "./queries.ts";

export interface EventsOfCase extends FoundCase {
  readonly texts: ReadonlyMap<string, string>;
}

/** `events` from the first to the last: of those with one event_id the first counts. */
export const caseOfEvents = async (
  tenant: string,
  events: readonly Pick<StoredEvent, "sequence" | "receivedAt" | "eventText">[],
  asked: { readonly decision: string; readonly rules: Rules },
): Promise<EventsOfCase | undefined> => {
  const texts = new Map<string, string>();
  const made: Fact[] = [];
  for (const { sequence, receivedAt, eventText } of events) {
    const facts = eventFacts(readEvent(eventText));
    if (facts === undefined || texts.has(facts.eventId)) continue;
    texts.set(facts.eventId, eventText);
    made.push(factOf(facts, sequence, timeKey(receivedAt)));
  }
  const rows = new Map(nodeRowsOf(tenant, made).map((row) => [rowText(row, "node"), row]));
  const load: ViewStore["load"] = async (_table, keys) =>
    keys.flatMap((key) => {
      const row = rows.get(rowText(key, "node"));
      return row === undefined ? [] : [row];
    });
  const { decision: value, rules } = asked;
  const found = await findCase({ load }, tenant, { kind: "decision", value, rules });
  return found && { ...found, texts };
};
