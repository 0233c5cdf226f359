import { eventFacts } from "../../src/event/facts.ts";
import { type Fact, factOf } from "../../src/law/cases/fact.ts";

export type Metadata = Readonly<Record<string, unknown>>;

/** One event in a line: `id type timestamp`, and its other members. It was recorded when it happened. */
export const fact = (line: string, metadata: Metadata = {}, members: Metadata = {}): Fact => {
  const [event_id, event_type, timestamp] = line.split(" ");
  const facts = eventFacts({ event_id, event_type, timestamp, asset_id: "a", metadata, ...members });
  if (!facts) throw new Error(line);
  return factOf(facts, 1, facts.occurred);
};
