import { type EventFacts, metadataText } from "../../event/facts.ts";
import { type Row, type RowOf, rowText } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { type Latest, laterOf, latestText, withSaid } from "../latest.ts";
import type { States } from "../projection.ts";
import { type Gap, gapsIn, type Range, withNumber } from "./ranges.ts";
import { SOURCE_GAPS, SOURCES } from "./tables.ts";

const HEARTBEAT = "sdk.heartbeat";

const sourceOf = ({ metadata }: EventFacts): string | undefined => metadataText(metadata, "source_id");

const numberOf = ({ metadata }: EventFacts): number | undefined => {
  const number = metadata.source_sequence;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

interface Source {
  readonly tenant: string;
  readonly sourceId: string;
  readonly lastAt: string;
  readonly said: Latest;
  readonly ranges: readonly Range[];
  readonly gapsBefore: readonly Gap[];
}

const evolve = (states: States, events: readonly FirstEvent[]): readonly Write[] => {
  const sources = new Map<string, Source>();
  for (const { tenant, facts } of events) {
    const sourceId = sourceOf(facts);
    if (sourceId === undefined) continue;
    const name = JSON.stringify([tenant, sourceId]);
    const key = { tenant, source_id: sourceId };
    const before = sources.get(name) ?? storedSource(states.get(SOURCES, key), key, facts.occurred);
    sources.set(name, grown(before, facts));
  }
  return [...sources.values()].flatMap((source) => [
    { kind: "upsert", table: SOURCES, row: rowOf(source) } as const,
    ...gapChanges(source),
  ]);
};

const storedSource = (
  row: Row | undefined,
  { tenant, source_id: sourceId }: { readonly tenant: string; readonly source_id: string },
  at: string,
): Source => {
  if (!row) return { tenant, sourceId, lastAt: at, said: {}, ranges: [], gapsBefore: [] };
  const ranges: readonly Range[] = JSON.parse(rowText(row, "ranges"));
  return {
    tenant,
    sourceId,
    lastAt: rowText(row, "last_at"),
    said: JSON.parse(rowText(row, "said")),
    ranges,
    gapsBefore: gapsIn(ranges),
  };
};

/** What a heartbeat carries (FIELD: queue and outbox depth, breaker, version). */
const HEARTBEAT_KEYS = ["queue_depth", "outbox_depth", "circuit_state", "dropped"] as const;

const grown = (source: Source, facts: EventFacts): Source => {
  const { occurred, eventId, eventType, metadata } = facts;
  const number = numberOf(facts);
  let { said } = source;
  if (eventType === HEARTBEAT) {
    said = withSaid(said, "heartbeat_at", [occurred, occurred, eventId]);
    for (const name of HEARTBEAT_KEYS) {
      const value = metadataText(metadata, name);
      if (value !== undefined) said = withSaid(said, name, [value, occurred, eventId]);
    }
  }
  return {
    ...source,
    lastAt: laterOf(occurred, source.lastAt),
    said,
    ranges: number === undefined ? source.ranges : withNumber(source.ranges, number, occurred),
  };
};

const rowOf = ({ tenant, sourceId, lastAt, said, ranges }: Source): RowOf<typeof SOURCES> => {
  const last = ranges.at(-1)?.[1] ?? 0;
  const received = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  return {
    tenant,
    source_id: sourceId,
    last_number: last,
    received,
    missing: last - received,
    last_at: lastAt,
    heartbeat_at: said.heartbeat_at?.[0] ?? null,
    said: latestText(said),
    ranges: JSON.stringify(ranges),
  };
};

const gapChanges = ({ tenant, sourceId, ranges, gapsBefore }: Source): readonly Write[] => {
  const gaps = gapsIn(ranges);
  const key = ({ first }: Gap) => ({ tenant, source_id: sourceId, first_number: first });
  const gone = gapsBefore.filter(({ first }) => !gaps.some((gap) => gap.first === first));
  const changed = gaps.filter(
    ({ first, last, since }) =>
      !gapsBefore.some((gap) => gap.first === first && gap.last === last && gap.since === since),
  );
  return [
    ...gone.map((gap): Write => ({ kind: "delete", table: SOURCE_GAPS, key: key(gap) })),
    ...changed.map((gap): Write => {
      const row = { ...key(gap), last_number: gap.last, since: gap.since };
      return { kind: "upsert", table: SOURCE_GAPS, row };
    }),
  ];
};

export const sourcesProjection = onFirstEvents({
  name: "sources",
  version: 1,
  tables: [SOURCES, SOURCE_GAPS],
  stateKeys: (events) =>
    events.flatMap(({ tenant, facts }) => {
      const sourceId = sourceOf(facts);
      return sourceId === undefined ? [] : { table: SOURCES, key: { tenant, source_id: sourceId } };
    }),
  evolve,
});
