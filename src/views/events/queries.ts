/** The queries of the view `events`. Each takes the tenant that asks. */
import { setImmediate as otherWork } from "node:timers/promises";
import { splitEventType } from "../../../streams/subjects.ts";
import type { Tag } from "../../event/facts.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import type { SearchWords } from "../../event/search-text.ts";
import {
  CHECKED_ROWS_PER_READ,
  COUNT_EXACT_MAX,
  PAGE_BYTES_MAX,
  PAGE_ROWS_PER_READ,
  TAGS_MAX,
} from "../../limits.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Count } from "../kit/list.ts";
import type { Condition } from "../store/conditions.ts";
import { readCursor, writeCursor } from "../store/cursor.ts";
import { type ColumnOf, type Row, rowInteger, rowText } from "../store/tables.ts";
import { type TenantQuery, tenantQuery } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import { type AskedFacts, askedLabels } from "./labels.ts";
import { EVENT_WORDS, EVENTS, isExpired, sequenceOf } from "./tables.ts";

/** With more tags than TAGS_MAX no event matches. */
export interface EventConditions extends AskedFacts {
  /** Beside all else, the event has the values of one of these. */
  readonly anyOf?: readonly AskedFacts[] | undefined;
  /** The event has none of these values. */
  readonly noneOf?: readonly AskedFacts[] | undefined;
  /** All of these words occur in the event. */
  readonly text?: SearchWords | undefined;
  /** RFC 3339, UTC, any precision; inclusive. */
  readonly from?: string | undefined;
  /** Exclusive. */
  readonly to?: string | undefined;
  /** The time to which `from` and `to` apply. */
  readonly timeField: "timestamp" | "received_at";
}

export interface EventFilter extends EventConditions {
  /** By sequence: the order in which the log received them. */
  readonly order: "asc" | "desc";
}

export interface EventPage {
  readonly limit: number;
  /** `nextCursor` of the previous page, used with the same filter. */
  readonly cursor?: string | undefined;
}

export interface StoredEvent {
  readonly sequence: Sequence;
  readonly tenant: string;
  readonly receivedAt: string;
  /** JSON text as it was sent. */
  readonly eventText: string;
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
  const { cursor } = filter;
  if (matchesNone(filter))
    // No page with this filter had a next one.
    return cursor === undefined ? { kind: "page", rows: [], nextCursor: null } : { kind: "invalid_cursor" };
  const scope = JSON.stringify(
    alternativesOf(filter).map((each) => {
      const { sql, params } = searchQuery(tenant, each, { after: undefined, rowsMax: 1 });
      return [sql, params];
    }),
  );
  const start = cursor === undefined ? undefined : readCursor(cursor, scope);
  if (start?.kind === "invalid_cursor") return start;
  const [after] = start?.place ?? [];
  if (after !== undefined && !isPlace(after)) return { kind: "invalid_cursor" };
  const { rows, hasNext } = await readPage(views, tenant, filter, after);
  const last = hasNext ? rows.at(-1) : undefined;
  return { kind: "page", rows, nextCursor: last ? writeCursor({ place: [last.sequence], scope }) : null };
};

/** Anybody may make a cursor, because it is not secret, even one with a text in it, or with a number that no event can have. */
const isPlace = (after: string | number): after is Sequence =>
  typeof after === "number" && after > 0 && after < Number.MAX_SAFE_INTEGER;

/** A page of large events has fewer than `limit`, and is read in parts, so that not much more than the answer is held in memory. */
const readPage = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  filter: EventFilter & EventPage,
  start: Sequence | undefined,
): Promise<{ readonly rows: readonly StoredEvent[]; readonly hasNext: boolean }> => {
  const { limit } = filter;
  const rows: StoredEvent[] = [];
  let after = start;
  let bytes = 0;
  for (;;) {
    // One row more than requested shows whether there is a next page.
    const rowsMax = Math.min(limit + 1 - rows.length, PAGE_ROWS_PER_READ);
    const found = (await selectEvents(views, tenant, filter, { after, rowsMax })).map(storedEvent);
    for (const row of found) {
      bytes += Buffer.byteLength(row.eventText);
      if (rows.length === limit || (rows.length > 0 && bytes > PAGE_BYTES_MAX))
        return { rows, hasNext: true };
      rows.push(row);
    }
    if (found.length < rowsMax) return { rows, hasNext: false };
    after = rows.at(-1)?.sequence;
  }
};

/** Counts up to COUNT_EXACT_MAX. */
export const countEvents = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  filter: EventFilter,
): Promise<Count> => {
  const rowsMax = CHECKED_ROWS_PER_READ;
  let value = 0;
  for (let after: Sequence | undefined; ; ) {
    const rows = await selectEvents(views, tenant, filter, { after, rowsMax, columns: ["sequence"] });
    value += rows.length;
    if (value > COUNT_EXACT_MAX) return { value: COUNT_EXACT_MAX, exact: false };
    const last = rows.at(-1);
    if (rows.length < rowsMax || last === undefined) return { value, exact: true };
    after = sequenceOf(last);
    await otherWork();
  }
};

/** The rows of all alternatives in the order of the log, each once: an event may have two of the legal bases that are asked for. */
export const selectEvents = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  filter: EventFilter,
  parts: SearchPage,
): Promise<readonly Row[]> => {
  const pages: (readonly Row[])[] = [];
  for (const each of alternativesOf(filter)) {
    // SQLite answers synchronously: without this pause nothing else would run until the last of many alternatives.
    if (pages.length > 0) await otherWork();
    pages.push(await views.select(searchQuery(tenant, each, parts)));
  }
  const [only = []] = pages;
  if (pages.length <= 1) return only;
  const bySequence = new Map(pages.flat().map((row) => [sequenceOf(row), row] as const));
  const sorted = [...bySequence].sort(([one], [other]) =>
    filter.order === "asc" ? one - other : other - one,
  );
  return sorted.slice(0, parts.rowsMax).map(([, row]) => row);
};

/** Without those that no event matches. */
const alternativesOf = (filter: EventFilter): readonly EventFilter[] => {
  const { anyOf, ...both } = filter;
  if (anyOf === undefined) return matchesNone(filter) ? [] : [filter];
  return anyOf.map((each) => ({ ...both, ...each })).filter((each) => !matchesNone(each));
};

interface SearchPage {
  readonly after: Sequence | undefined;
  readonly upTo?: Sequence | undefined;
  readonly rowsMax: number;
  /** Default: what a stored event has. */
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
    : { kind: "stored", ...storedEvent(row), requestId: rowText(row, "request_id") };
};

/** Of a filter without alternatives. Separate from selectEvents so that a test can ask the database for its plan. */
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
    columns: [...STORED_EVENT_COLUMNS, "request_id", "expired_at"],
    where: [{ kind: "equals", column: "event_id", value: canonicalEventId(eventId) }],
    order: "asc",
    rowsMax: 1,
  });

const STORED_EVENT_COLUMNS = ["sequence", "tenant", "received_at", "event"] as const;

export const storedEvent = (row: Row): StoredEvent => ({
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

const TIME_COLUMNS = { timestamp: "occurred", received_at: "received" } as const;

const range = ({ from, to, timeField }: EventConditions) => {
  if (from === undefined && to === undefined) return [];
  const bound = (time: string | undefined) => (time === undefined ? undefined : timeKey(time));
  const column = TIME_COLUMNS[timeField];
  return [{ kind: "within", index: EVENT_WORDS, column, from: bound(from), to: bound(to) }] as const;
};

/** In one order, so that equal requests make equal queries. */
const distinctTags = ({ tags = [] }: EventConditions): readonly Tag[] => {
  const byText = new Map(tags.map((tag) => [JSON.stringify([tag.key, tag.value]), tag]));
  return [...byText.keys()].sort().flatMap((text) => byText.get(text) ?? []);
};
