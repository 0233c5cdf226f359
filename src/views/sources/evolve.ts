import { type EventFacts, metadataName, shortened } from "../../event/facts.ts";
import { laterOf, withSaid } from "../kit/latest.ts";
import type { FirstEvent, StateKey, States } from "../kit/projection.ts";
import { ofThings, rowChanges } from "../kit/read-model.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { beyond, type Gap, gapAtEnd, takeNumber, withAnnounced } from "./numbers.ts";
import { HEARTBEAT_KEYS, SOURCE_GAPS, SOURCES, type Source, sourceRow } from "./tables.ts";

const HEARTBEAT = "sdk.heartbeat";

const sourceOf = ({ metadata }: EventFacts): string | undefined => metadataName(metadata, "source_id");

const numberOf = (
  { metadata }: EventFacts,
  name: "source_sequence" | "last_source_sequence",
): number | undefined => {
  const number = metadata[name];
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

const keyOf = (tenant: string, facts: EventFacts): Row | undefined => {
  const sourceId = sourceOf(facts);
  return sourceId === undefined ? undefined : { tenant, source_id: sourceId };
};

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

type Gaps = readonly Gap[];

interface Known {
  readonly key: Row;
  readonly source: Source;
  readonly before: Gaps;
}

/** With the stored gaps that may change. */
const read = (states: States, { tenant, facts }: FirstEvent): Known => {
  const id = sourceOf(facts) ?? "";
  const key = { tenant, source_id: id };
  const row = states.get(SOURCES, key);
  if (!row) {
    const numbers = { last: 0, received: 0, gaps: [] };
    const source = { id, numbers, lastAt: "", lastRecorded: "", said: {}, announced: [] };
    return { key, source, before: [] };
  }
  const last = rowInteger(row, "last_number");
  const gaps = states
    .known(SOURCE_GAPS, key)
    .map(gapOf)
    .filter(({ first }) => first <= last)
    .sort((one, other) => one.first - other.first);
  const source = {
    id,
    numbers: { last, received: rowInteger(row, "received"), gaps },
    lastAt: rowText(row, "last_at"),
    lastRecorded: rowText(row, "last_recorded_at"),
    said: JSON.parse(rowText(row, "said")),
    announced: JSON.parse(rowText(row, "announced")),
  };
  return { key, source, before: allGaps(source) };
};

const gapOf = (row: Row): Gap => ({
  first: rowInteger(row, "first_number"),
  last: rowInteger(row, "last_number"),
  since: rowText(row, "since"),
});

const allGaps = ({ numbers: { gaps, last }, announced }: Source): Gaps => {
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

const writesOf = ({ key, source, before }: Known, tenant: string): readonly Write[] => {
  const rowsOf = (gaps: Gaps) =>
    gaps.map(({ first, last, since }) => ({ ...key, first_number: first, last_number: last, since }));
  return [
    { kind: "upsert", table: SOURCES, row: sourceRow(tenant, source) },
    ...rowChanges(SOURCE_GAPS, rowsOf(before), rowsOf(allGaps(source))),
  ];
};

export const sourcesProjection = ofThings<Known>({
  name: "sources",
  version: 12,
  tables: [SOURCES, SOURCE_GAPS],
  idOf: ({ facts }) => sourceOf(facts),
  keysOf: ({ tenant, facts }) => {
    const key = keyOf(tenant, facts);
    return key === undefined ? [] : [{ table: SOURCES, key }];
  },
  furtherKeys,
  read,
  grow: ({ source }, { facts, recorded }) => take(source, facts, recorded),
  writesOf,
});
