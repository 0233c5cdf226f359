import { type EventFacts, metadataName } from "../../event/facts.ts";
import { type Row, type RowOf, rowText } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { type Latest, laterOf, latestText, withSaid } from "../latest.ts";
import type { States } from "../projection.ts";
import { type Announced, beyond, withAnnounced } from "./announced.ts";
import { type Gap, gapsIn, lastIn, type Range, withNumber } from "./ranges.ts";
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

interface Source {
  readonly tenant: string;
  readonly sourceId: string;
  readonly lastAt: string;
  readonly said: Latest;
  readonly ranges: readonly Range[];
  readonly announced: readonly Announced[];
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
  if (!row) return { tenant, sourceId, lastAt: at, said: {}, ranges: [], announced: [], gapsBefore: [] };
  const ranges: readonly Range[] = JSON.parse(rowText(row, "ranges"));
  const announced: readonly Announced[] = JSON.parse(rowText(row, "announced"));
  return {
    tenant,
    sourceId,
    lastAt: rowText(row, "last_at"),
    said: JSON.parse(rowText(row, "said")),
    ranges,
    announced,
    gapsBefore: gapsIn(ranges, announced),
  };
};

const grown = (source: Source, facts: EventFacts): Source => {
  const { occurred, eventId, eventType, metadata } = facts;
  const number = numberOf(facts, "source_sequence");
  const ranges = number === undefined ? source.ranges : withNumber(source.ranges, number, occurred);
  let { said, announced } = source;
  if (eventType === HEARTBEAT) {
    said = withSaid(said, "heartbeat_at", [occurred, occurred, eventId]);
    for (const name of HEARTBEAT_KEYS) {
      const value = metadata[name];
      if (typeof value === "string" || typeof value === "number")
        said = withSaid(said, name, [JSON.stringify(value), occurred, eventId]);
    }
    const last = numberOf(facts, "last_source_sequence");
    if (last !== undefined) announced = withAnnounced(announced, last, occurred);
  }
  return {
    ...source,
    lastAt: laterOf(occurred, source.lastAt),
    said,
    ranges,
    announced: beyond(announced, lastIn(ranges)),
  };
};

const rowOf = ({ tenant, sourceId, lastAt, said, ranges, announced }: Source): RowOf<typeof SOURCES> => {
  const last = lastIn(ranges);
  const highest = announced.at(-1)?.[0] ?? last;
  const received = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  return {
    tenant,
    source_id: sourceId,
    last_number: last,
    received,
    missing: highest - received,
    last_at: lastAt,
    heartbeat_at: said.heartbeat_at?.[0] ?? null,
    heartbeat: said.heartbeat_at ? heartbeatText(said) : null,
    said: latestText(said),
    ranges: JSON.stringify(ranges),
    announced: JSON.stringify(announced),
  };
};

const heartbeatText = (said: Latest): string => {
  const members = HEARTBEAT_KEYS.flatMap((name) => {
    const [value] = said[name] ?? [];
    return value === undefined ? [] : `"${name}":${value}`;
  });
  return `{${members.join(",")}}`;
};

const gapChanges = ({ tenant, sourceId, ranges, announced, gapsBefore }: Source): readonly Write[] => {
  const gaps = gapsIn(ranges, announced);
  const key = ({ first }: Gap) => ({ tenant, source_id: sourceId, first_number: first });
  const now = new Set(gaps.map(({ first }) => first));
  const known = new Map(gapsBefore.map((gap) => [gap.first, gap]));
  const gone = gapsBefore.filter(({ first }) => !now.has(first));
  const changed = gaps.filter(({ first, last, since }) => {
    const before = known.get(first);
    return before?.last !== last || before.since !== since;
  });
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
  version: 5,
  tables: [SOURCES, SOURCE_GAPS],
  stateKeys: (events) =>
    events.flatMap(({ tenant, facts }) => {
      const sourceId = sourceOf(facts);
      return sourceId === undefined ? [] : { table: SOURCES, key: { tenant, source_id: sourceId } };
    }),
  evolve,
});
