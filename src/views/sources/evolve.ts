import { type EventFacts, metadataName, shortened } from "../../event/facts.ts";
import { type FirstEvent, onFirstEvents } from "../kit/first-events.ts";
import { type Latest, laterOf, latestText, withSaid } from "../kit/latest.ts";
import type { StateKey, States } from "../kit/projection.ts";
import { type Row, type RowOf, rowInteger, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { type Announced, beyond, withAnnounced } from "./announced.ts";
import { type Gap, gapAtEnd, type Numbers, takeNumber } from "./gaps.ts";
import { HEARTBEAT_KEYS, SOURCE_GAPS, SOURCES } from "./tables.ts";

const HEARTBEAT = "sdk.heartbeat";

const sourceOf = ({ metadata }: EventFacts): string | undefined => metadataName(metadata, "source_id");

const numberOf = (
  { metadata }: EventFacts,
  name: "source_sequence" | "last_source_sequence",
): number | undefined => {
  const number = metadata[name];
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

interface SourceKey extends Row {
  readonly tenant: string;
  readonly source_id: string;
}

const keyOf = (tenant: string, facts: EventFacts): SourceKey | undefined => {
  const sourceId = sourceOf(facts);
  return sourceId === undefined ? undefined : { tenant, source_id: sourceId };
};

/** The state while the events of a step are taken. */
interface Source {
  readonly key: SourceKey;
  readonly numbers: Numbers;
  /** The stored gaps that may change. */
  readonly gapsBefore: readonly Gap[];
  lastAt: string;
  /** Of several events at that time, when the last of them was received. */
  lastRecorded: string;
  said: Latest;
  announced: readonly Announced[];
}

/** A number beyond all earlier ones changes no gap; for any other number the key names the gap that it is in or right behind. */
const furtherKeys = (states: States, { tenant, facts }: FirstEvent): readonly StateKey[] => {
  const key = keyOf(tenant, facts);
  const number = numberOf(facts, "source_sequence");
  if (key === undefined || number === undefined) return [];
  const row = states.get(SOURCES, key);
  if (!row || number > rowInteger(row, "last_number") || rowInteger(row, "missing") === 0) return [];
  const gap = { ...key, first_number: number };
  // If a gap begins there, or did before the group, none ends right before it.
  return states.isNamed(SOURCE_GAPS, gap) ? [] : [{ table: SOURCE_GAPS, key: gap, which: "at_or_before" }];
};

const evolve = (states: States, events: readonly FirstEvent[]): readonly Write[] => {
  const sources = new Map<string, Source>();
  for (const { tenant, facts, told } of events) {
    const key = keyOf(tenant, facts);
    if (key === undefined) continue;
    const name = JSON.stringify([tenant, key.source_id]);
    const source = sources.get(name) ?? storedSource(states, key);
    sources.set(name, source);
    take(source, facts, told.fact.recorded);
  }
  return [...sources.values()].flatMap((source) => [
    { kind: "upsert", table: SOURCES, row: rowOf(source) } as const,
    ...gapChanges(source),
  ]);
};

const storedSource = (states: States, key: SourceKey): Source => {
  const row = states.get(SOURCES, key);
  if (!row) {
    const numbers = { last: 0, received: 0, gaps: [] };
    return { key, numbers, gapsBefore: [], lastAt: "", lastRecorded: "", said: {}, announced: [] };
  }
  const last = rowInteger(row, "last_number");
  const announced: readonly Announced[] = JSON.parse(rowText(row, "announced"));
  const gaps = states
    .known(SOURCE_GAPS, key)
    .map(gapOf)
    .filter(({ first }) => first <= last);
  gaps.sort((one, other) => one.first - other.first);
  return {
    key,
    numbers: { last, received: rowInteger(row, "received"), gaps },
    gapsBefore: withGapAtEnd(gaps, last, announced),
    lastAt: rowText(row, "last_at"),
    lastRecorded: rowText(row, "last_recorded_at"),
    said: JSON.parse(rowText(row, "said")),
    announced,
  };
};

const gapOf = (row: Row): Gap => ({
  first: rowInteger(row, "first_number"),
  last: rowInteger(row, "last_number"),
  since: rowText(row, "since"),
});

const withGapAtEnd = (
  gaps: readonly Gap[],
  last: number,
  announced: readonly Announced[],
): readonly Gap[] => {
  const atEnd = gapAtEnd(last, announced);
  return atEnd ? [...gaps, atEnd] : [...gaps];
};

const take = (source: Source, facts: EventFacts, recorded: string): void => {
  const { occurred, eventId, eventType, metadata } = facts;
  if (occurred >= source.lastAt) {
    const isSame = occurred === source.lastAt;
    source.lastRecorded = isSame ? laterOf(recorded, source.lastRecorded) : recorded;
    source.lastAt = occurred;
  }
  const number = numberOf(facts, "source_sequence");
  if (number !== undefined) takeNumber(source.numbers, number, occurred);
  if (eventType === HEARTBEAT) {
    source.said = withSaid(source.said, "heartbeat_at", [occurred, occurred, eventId, recorded]);
    for (const name of HEARTBEAT_KEYS) {
      const value = metadata[name];
      // A number that no double can hold, such as 1e400, would be null in JSON.
      if (typeof value !== "string" && !Number.isFinite(value)) continue;
      const kept = typeof value === "string" ? shortened(value) : value;
      source.said = withSaid(source.said, name, [JSON.stringify(kept), occurred, eventId]);
    }
    const last = numberOf(facts, "last_source_sequence");
    if (last !== undefined) source.announced = withAnnounced(source.announced, last, occurred);
  }
  source.announced = beyond(source.announced, source.numbers.last);
};

const rowOf = ({ key, lastAt, lastRecorded, said, numbers, announced }: Source): RowOf<typeof SOURCES> => ({
  ...key,
  last_number: numbers.last,
  received: numbers.received,
  missing: (announced.at(-1)?.[0] ?? numbers.last) - numbers.received,
  last_at: lastAt,
  last_recorded_at: lastRecorded,
  heartbeat_at: said.heartbeat_at?.[0] ?? null,
  heartbeat_recorded_at: said.heartbeat_at?.[3] ?? null,
  heartbeat: said.heartbeat_at ? heartbeatText(said) : null,
  said: latestText(said),
  announced: JSON.stringify(announced),
});

const heartbeatText = (said: Latest): string => {
  const members = HEARTBEAT_KEYS.flatMap((name) => {
    const [value] = said[name] ?? [];
    return value === undefined ? [] : `"${name}":${value}`;
  });
  return `{${members.join(",")}}`;
};

const gapChanges = ({ key, numbers, announced, gapsBefore }: Source): readonly Write[] => {
  const now = new Map(withGapAtEnd(numbers.gaps, numbers.last, announced).map((gap) => [gap.first, gap]));
  const writes: Write[] = [];
  for (const { first, last, since } of gapsBefore) {
    const gap = now.get(first);
    if (!gap) writes.push({ kind: "delete", table: SOURCE_GAPS, key: { ...key, first_number: first } });
    else if (gap.last === last && gap.since === since) now.delete(first);
  }
  for (const { first, last, since } of now.values()) {
    const row = { ...key, first_number: first, last_number: last, since };
    writes.push({ kind: "upsert", table: SOURCE_GAPS, row });
  }
  return writes;
};

export const sourcesProjection = onFirstEvents({
  name: "sources",
  version: 12,
  tables: [SOURCES, SOURCE_GAPS],
  stateKeys: (events) =>
    events.flatMap(({ tenant, facts }) => {
      const key = keyOf(tenant, facts);
      return key === undefined ? [] : { table: SOURCES, key };
    }),
  furtherKeys,
  evolve,
});
