/** By what the screen Events filters, and which values of an event are filters. */
import type { StoredEvent } from "./answers.ts";
import type { Filter } from "./parts/filters.tsx";

const FACTS: readonly Filter[] = [
  { name: "event_type", title: "type", kind: "labels", labels: "event_types" },
  { name: "asset_id", title: "system", kind: "system" },
  { name: "risk_tier", title: "risk", kind: "labels", labels: "risk_tiers" },
  { name: "legal_basis", title: "law", kind: "labels", labels: "laws" },
  { name: "correlation_id", title: "case", kind: "text" },
  { name: "subject_hash", title: "person", kind: "person" },
  { name: "trace_id", title: "trace", kind: "text", isSeldom: true },
];

export const EVENT_FILTERS: readonly Filter[] = [
  { name: "q", title: "words", kind: "text" },
  ...FACTS.filter(({ kind }) => kind !== "person"),
  { name: "from", title: "from", kind: "day" },
  { name: "to", title: "to", kind: "day" },
  ...FACTS.map((fact) => ({ ...fact, name: `not_${fact.name}`, isNot: true as const })),
  ...FACTS.filter(({ kind }) => kind === "person"),
];

/** What a live stream can filter by. */
const LIVE: readonly string[] = ["event_type", "asset_id", "risk_tier"];

export const isLiveFilter = (name: string): boolean => LIVE.includes(name.replace("not_", ""));

export interface EventValue {
  readonly filter: Filter;
  readonly value: string;
}

export const valuesOfEvent = ({ event }: StoredEvent): readonly EventValue[] =>
  FACTS.flatMap((filter) => {
    const found: unknown =
      filter.name === "legal_basis" ? event.legal_bases : Reflect.get(event, filter.name);
    const values: readonly unknown[] = Array.isArray(found) ? found : [found];
    return values.filter((value) => typeof value === "string").map((value) => ({ filter, value }));
  });
