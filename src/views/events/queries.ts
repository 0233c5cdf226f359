import { splitEventType } from "../../../streams/subjects.ts";
import type { Tag } from "../../event/facts.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import type { SearchWords } from "../../event/search-query.ts";
import { PAGE_BYTES_MAX, PAGE_ROWS_PER_READ, TAGS_MAX } from "../../limits.ts";
import type { Sequence } from "../../log/outcome.ts";
import { type Count, countRows, type RowSource, readPage, selectAny } from "../kit/list.ts";
import type { Condition } from "../store/conditions.ts";
import { type ColumnOf, type Row, rowInteger, rowText } from "../store/tables.ts";
import { type TenantQuery, tenantQuery } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import { EVENT_WORDS, EVENTS, isExpired, sequenceOf } from "./tables.ts";
import { type AskedFacts, askedLabels } from "./terms.ts";

export interface EventConditions extends AskedFacts {
  readonly anyOf?: readonly AskedFacts[] | undefined;
  readonly noneOf?: readonly AskedFacts[] | undefined;
  readonly text?: SearchWords | undefined;
  /** RFC 3339, UTC, any precision; inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly timeField: "timestamp" | "received_at";
}

export interface EventFilter extends EventConditions {
  readonly order: "asc" | "desc";
}

export interface EventPage {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface StoredEvent {
  readonly sequence: Sequence;
  readonly tenant: string;
  readonly receivedAt: string;
  readonly eventText: string;
}

export interface StoredEventRow extends StoredEvent {
  readonly eventId: string;
  readonly requestId: string;
}

export type FoundEvent =
  | ({ readonly kind: "stored"; readonly requestId: string } & StoredEvent)
  /** The views no longer show it; its record is in the log. */
  | { readonly kind: "expired"; readonly sequence: Sequence; readonly expiredAt: string };

export type EventSearch =
  | { readonly kind: "page"; readonly rows: readonly StoredEvent[]; readonly nextCursor: string | null }
  | { readonly kind: "invalid_cursor" };

export const searchEvents = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  filter: EventFilter & EventPage,
): Promise<EventSearch> => {
  const { limit, cursor } = filter;
  if (matchesNone(filter))
    // No page with this filter had a next one.
    return cursor === undefined ? { kind: "page", rows: [], nextCursor: null } : { kind: "invalid_cursor" };
  const scope = JSON.stringify(
    alternativesOf(filter).map((each) => {
      const { sql, params } = searchQuery(tenant, each, { after: undefined, rowsMax: 1 });
      return [sql, params];
    }),
  );
  let bytes = 0;
  const page = await readPage(sourceOf(views, tenant, filter), {
    ...{ limit, cursor, scope, rowsPerRead: PAGE_ROWS_PER_READ },
    // A page of large events has fewer than `limit`, so that not much more than the answer is held in memory.
    fits: (row) => {
      bytes += Buffer.byteLength(rowText(row, "event"));
      return bytes <= PAGE_BYTES_MAX;
    },
  });
  return page.kind === "page" ? { ...page, rows: page.rows.map(storedEvent) } : page;
};

export const countEvents = (
  views: Pick<ViewStore, "select">,
  tenant: string,
  filter: EventFilter,
): Promise<Count> => countRows([sourceOf(views, tenant, filter, ["sequence"])]);

const ORDER = ["sequence"] as const;

const sourceOf = (
  views: Pick<ViewStore, "select">,
  tenant: string,
  filter: EventFilter,
  columns?: SearchPage["columns"],
): RowSource => ({
  orderBy: ORDER,
  // Cursors are not secret: anybody may forge one, even with a number that no event can have.
  isPlace: ([after, ...others]) =>
    typeof after === "number" && after > 0 && after < Number.MAX_SAFE_INTEGER && others.length === 0,
  read: ([after] = [], rowsMax) =>
    selectEvents(views, tenant, filter, {
      after: after === undefined ? undefined : Number(after),
      rowsMax,
      columns,
    }),
});

/** The rows of all alternatives in the order of the log, each once: an event may have two of the legal bases that are asked for. */
export const selectEvents = (
  views: Pick<ViewStore, "select">,
  tenant: string,
  filter: EventFilter,
  parts: SearchPage,
): Promise<readonly Row[]> =>
  selectAny(
    views,
    alternativesOf(filter).map((each) => searchQuery(tenant, each, parts)),
    { orderBy: ORDER, order: filter.order, rowsMax: parts.rowsMax },
  );

const alternativesOf = (filter: EventFilter): readonly EventFilter[] => {
  const { anyOf, ...both } = filter;
  if (anyOf === undefined) return matchesNone(filter) ? [] : [filter];
  return anyOf.map((each) => ({ ...both, ...each })).filter((each) => !matchesNone(each));
};

interface SearchPage {
  readonly after: Sequence | undefined;
  readonly upTo?: Sequence | undefined;
  readonly rowsMax: number;
  readonly columns?: readonly (typeof STORED_EVENT_COLUMNS)[number][] | undefined;
}

export const findEvent = async (
  views: ViewStore,
  tenant: string,
  eventId: string,
): Promise<FoundEvent | undefined> => {
  const [row] = await views.select(findQuery(tenant, eventId));
  if (!row) return undefined;
  return isExpired(row)
    ? { kind: "expired", sequence: sequenceOf(row), expiredAt: rowText(row, "expired_at") }
    : { kind: "stored", ...storedEvent(row) };
};

export const searchQuery = (
  tenant: string,
  filter: EventFilter,
  { after, upTo, rowsMax, columns = STORED_EVENT_COLUMNS }: SearchPage,
): TenantQuery =>
  tenantQuery({
    tenant,
    table: EVENTS,
    columns,
    where: conditionsOf(filter),
    order: filter.order,
    after,
    // Sequences of expired events are negative.
    above: 0,
    upTo,
    rowsMax,
  });

/** No event has more tags than TAGS_MAX, a type of another group, or a time in a range that ends before it begins. */
export const matchesNone = (filter: EventConditions): boolean => {
  const { anyOf, ...both } = filter;
  if (anyOf !== undefined) return anyOf.every((each) => matchesNone({ ...both, ...each }));
  const { eventType, eventGroup, from, to } = filter;
  const group = eventType === undefined ? eventGroup : splitEventType(eventType).group;
  const isOfOther = eventGroup !== undefined && eventGroup !== group;
  // PostgreSQL would treat it like any other range, and search all events for it.
  const isEmptyRange = from !== undefined && to !== undefined && timeKey(from) >= timeKey(to);
  return isOfOther || isEmptyRange || distinctTags(filter).length > TAGS_MAX;
};

export const findQuery = (tenant: string, eventId: string): TenantQuery =>
  tenantQuery({
    tenant,
    table: EVENTS,
    columns: [...STORED_EVENT_COLUMNS, "expired_at"],
    where: [{ kind: "equals", column: "event_id", value: canonicalEventId(eventId) }],
    order: "asc",
    rowsMax: 1,
  });

const STORED_EVENT_COLUMNS = [
  "event_id",
  "sequence",
  "tenant",
  "received_at",
  "request_id",
  "event",
] as const;

export const storedEvent = (row: Row): StoredEventRow => ({
  eventId: rowText(row, "event_id"),
  requestId: rowText(row, "request_id"),
  sequence: rowInteger(row, "sequence"),
  tenant: rowText(row, "tenant"),
  receivedAt: rowText(row, "received_at"),
  eventText: rowText(row, "event"),
});

const conditionsOf = (filter: EventConditions): readonly Condition<ColumnOf<typeof EVENTS>>[] => {
  const { text, noneOf = [] } = filter;
  const index = EVENT_WORDS;
  const labels = labelsOf({ ...filter, tags: distinctTags(filter) });
  const found = [
    ...labels.map((label) => ({ kind: "labelled", index, label }) as const),
    ...(text === undefined ? [] : [{ kind: "matches", index, ...text } as const]),
    ...range(filter),
  ];
  const left = noneOf.flatMap(labelsOf).map((label) => ({ kind: "not_labelled", index, label }) as const);
  // Every event has a time.
  const all = { kind: "within", index, column: TIME_COLUMNS.received_at } as const;
  return [...(found.length === 0 && left.length > 0 ? [all] : found), ...left];
};

const labelsOf = (asked: AskedFacts) =>
  askedLabels({ ...asked, subjectHash: asked.subjectHash?.toLowerCase() });

const TIME_COLUMNS = { timestamp: "occurred", received_at: "received_at" } as const;

const range = ({ from, to, timeField }: EventConditions) => {
  if (from === undefined && to === undefined) return [];
  const column = TIME_COLUMNS[timeField];
  const bound = (time: string | undefined) => {
    if (time === undefined) return undefined;
    const key = timeKey(time);
    // The log's own times end with milliseconds and a Z, after which `[` sorts.
    return column === "received_at" && key.length > MILLISECONDS ? `${key.slice(0, MILLISECONDS)}[` : key;
  };
  return [{ kind: "within", index: EVENT_WORDS, column, from: bound(from), to: bound(to) }] as const;
};

const MILLISECONDS = "2026-11-20T10:00:00.000".length;

/** In one order, so that equal requests make equal queries. */
const distinctTags = ({ tags = [] }: EventConditions): readonly Tag[] => {
  const byText = new Map(tags.map((tag) => [JSON.stringify([tag.key, tag.value]), tag]));
  return [...byText.keys()].sort().flatMap((text) => byText.get(text) ?? []);
};
