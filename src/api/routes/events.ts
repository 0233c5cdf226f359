import { Type } from "@sinclair/typebox";
import { SYSTEM_EVENTS_TEXT } from "../../access/administration/system-events.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import type { EventVocabulary } from "../../event/audit-event.ts";
import { createWarner } from "../../event/warnings.ts";
import { assetList, findAsset } from "../../views/assets/tables.ts";
import {
  countEvents,
  type EventConditions,
  type FoundEvent,
  findEvent,
  type StoredEvent,
  searchEvents,
} from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { walkEvents } from "../../views/events/walk.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { EVENT_LIST, ONE_EVENT } from "../http/access.ts";
import { afterwards, giveText, notFound, type Refusal, refuse } from "../http/answers.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { answerExport, EXPORTS_AT_ONCE, type FileFormat, type NextText } from "../http/downloads.ts";
import { EVENT_FILTER, TIMELINE_FILTER } from "../http/event-filter.ts";
import { type ListSource, listRoute } from "../http/lists.ts";
import { type Asking, choice, isAsked } from "../http/parameters.ts";
import type { Route } from "../http/route.ts";
import { Sequence, Time, Warnings } from "../http/schemas.ts";
import {
  EVENT_CSV_COLUMNS,
  eventCsvRow,
  eventCsvStart,
  STORED_EXAMPLE,
  storedEventLine,
  storedEventText,
  warnedEventText,
} from "../http/stored-event.ts";

const stored = {
  sequence: Sequence,
  tenant: Type.String(),
  received_at: Time,
  event: Type.Record(Type.String(), Type.Unknown(), {
    description: "The event as it was sent, byte for byte.",
  }),
};

const READING = { tag: "Reading" } as const;
const FILES = [
  { mediaType: "text/csv", example: eventCsvStart() + eventCsvRow(STORED_EXAMPLE) },
  { mediaType: "application/x-ndjson", example: storedEventLine(STORED_EXAMPLE) },
];
const EXAMPLE = JSON.parse(storedEventText(STORED_EXAMPLE));
const PAGE = { example: EXAMPLE, others: FILES };

export const eventRoutes = (
  dependencies: Dependencies & { readonly vocabulary: EventVocabulary },
): readonly Route[] => {
  const { route, views } = dependencies;
  const warn = createWarner(dependencies.vocabulary.legalBases);
  return [
    listRoute(dependencies, eventSource(views, EVENT_FILTER), {
      on: "GET /v1/events",
      access: EVENT_LIST,
      id: "searchEvents",
      tag: "Reading",
      summary: "Search events",
      description: `The tenant's events in the order in which the log received them, newest first unless asked otherwise. All filters must hold. A file (\`format\`) is that of \`GET /v1/export\`, in the order of the log. A key of the tenant \`${SYSTEM_TENANT}\` finds what administrators did. ${SYSTEM_EVENTS_TEXT}`,
      ...PAGE,
    }),
    route({
      ...READING,
      on: "GET /v1/events/:event_id",
      access: ONE_EVENT,
      id: "readEvent",
      summary: "Read one event",
      description: "The event as sent, byte for byte, with what the log added.",
      views: [EVENTS_VIEW],
      query: {
        isWarned: isAsked(
          "warnings",
          "`true` adds the `warnings` that sending the event today would return.",
        ),
      },
      gives: Type.Object({ ...stored, warnings: Warnings }),
      example: EXAMPLE,
      problems: ["event_expired"],
      answer: async ({ principal, params: { event_id: eventId }, asked }) => {
        const event = eventId ? await findEvent(views, principal.tenant, eventId) : undefined;
        if (!event) return notFound("event");
        if (event.kind === "expired") return eventExpired(event);
        return giveText(asked.isWarned ? warnedEventText(event, warn) : storedEventText(event));
      },
    }),
    listRoute(dependencies, timelineSource(views), {
      on: "GET /v1/assets/:asset_id/timeline",
      access: EVENT_LIST,
      id: "readTimeline",
      tag: "Reading",
      summary: "The events of one AI system",
      description:
        "All events of the asset in the order in which the log received them, newest first unless asked otherwise. All filters must hold.",
      ...PAGE,
    }),
    exportRoute(dependencies),
  ];
};

export const eventExpired = ({
  sequence,
  expiredAt,
}: Extract<FoundEvent, { readonly kind: "expired" }>): Refusal =>
  refuse("event_expired", {
    detail: `The event expired at ${expiredAt}. Its record is in the log at sequence ${sequence}.`,
    expired: { sequence, expired_at: expiredAt },
  });

const eventSource = (views: ViewStore, query: Asking<EventConditions>): ListSource<EventConditions> => ({
  views: [EVENTS_VIEW],
  members: stored,
  query,
  page: async (wanted, { tenant }, page) => {
    const found = await searchEvents(views, tenant, { ...wanted, ...page });
    if (found.kind === "invalid_cursor") return found;
    const texts = found.rows.map(storedEventText);
    return { kind: "page", entries: [], texts, nextCursor: found.nextCursor };
  },
  count: (wanted, { tenant }) => countEvents(views, tenant, { ...wanted, order: "desc" }),
  file: (wanted, { tenant }, form) => eventFile(views, tenant, wanted, form),
});

const timelineSource = (views: ViewStore): ListSource<EventConditions> => ({
  ...eventSource(views, TIMELINE_FILTER),
  views: [EVENTS_VIEW, assetList.view],
  found: async (wanted, { principal, params: { asset_id: assetId } }) => {
    const asset = assetId ? await findAsset(views, principal.tenant, assetId) : undefined;
    return assetId && asset ? { ...wanted, assetId } : notFound("asset");
  },
});

const FORMS: Readonly<
  Record<FileFormat, { readonly start: () => string; readonly row: (event: StoredEvent) => string }>
> = {
  ndjson: { start: () => "", row: storedEventLine },
  csv: { start: eventCsvStart, row: eventCsvRow },
};

const eventFile = (
  views: ViewStore,
  tenant: string,
  conditions: EventConditions,
  { format, end }: { readonly format: FileFormat; readonly end: number },
): NextText => {
  const walk = walkEvents({ views, tenant, conditions, after: 0 });
  const form = FORMS[format];
  let start = form.start();
  return async () => {
    if (walk.position() >= end && start === "") return undefined;
    const rows = await walk.next(end);
    let text = start;
    for (const row of rows) text += form.row(row);
    start = "";
    return text;
  };
};

const COLUMNS = EVENT_CSV_COLUMNS.map((column) => `\`${column}\``).join(", ");

const exportRoute = ({ route, views, ...exports }: Dependencies): Route =>
  route({
    ...READING,
    on: "GET /v1/export",
    access: EVENT_LIST,
    id: "exportEvents",
    summary: "Export events",
    description: `All events that match, as a file in the order of the log, up to the sequence in the header \`X-Prooftrail-Last-Sequence\`. The export is recorded as an event of the tenant \`prooftrail-system\`. If it cannot be finished, the connection is aborted: a file that ends properly is complete.\n\n\`ndjson\`: one event per line, byte for byte as sent, except that raw line breaks between its values become spaces.\n\n\`csv\`: RFC 4180 in UTF-8 with a byte order mark. Columns: ${COLUMNS}. \`event\` is the text as sent; \`tags\` and \`metadata\` are texts from it. \`legal_bases\`, separated by spaces, and \`subject_hash\` are what the filters of these names match; \`context_hash\` and \`outcome_hash\` are also what clients send as \`input_hash\` and \`output_hash\`. A cell that a spreadsheet could take for a formula starts with an apostrophe.\n\n${EXPORTS_AT_ONCE}`,
    views: [EVENTS_VIEW],
    query: {
      format: choice("format", "File format.", ["ndjson", "csv"], "ndjson"),
      conditions: EVENT_FILTER,
    },
    gives: Type.String(),
    example: storedEventLine(STORED_EXAMPLE),
    mediaType: "application/x-ndjson",
    others: FILES.slice(0, 1),
    sends: {
      "X-Prooftrail-Last-Sequence": {
        schema: { type: "integer", format: "int64", minimum: 0 },
        description: "The last sequence of the log that the file covers.",
      },
    },
    problems: ["overloaded", "log_unavailable"],
    answer: async (call) => {
      const { format, conditions } = call.asked;
      const end = await views.position(EVENTS_VIEW);
      const next = eventFile(views, call.principal.tenant, conditions, { format, end });
      return afterwards(() => answerExport(exports, call, { format, lastSequence: end, next }));
    },
  });
