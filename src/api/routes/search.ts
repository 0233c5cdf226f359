import { Elysia } from "elysia";
import { SYSTEM_EVENTS_TEXT } from "../../access/administration/system-events.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import type { EventVocabulary } from "../../event/audit-event.ts";
import { createWarner, type Warner } from "../../event/warnings.ts";
import { assetList, findAsset } from "../../views/assets/queries.ts";
import {
  countEvents,
  type EventConditions,
  type EventFilter,
  type EventPage,
  type FoundEvent,
  findEvent,
  searchEvents,
} from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { YES_OR_NO } from "../../views/kit/list.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { EVENT_LIST, ONE_EVENT } from "../http/access.ts";
import type { Call } from "../http/call.ts";
import type { ExportDependencies } from "../http/downloads.ts";
import {
  EVENT_FILTER_PARAMETERS,
  readEventFilter,
  readTimelineFilter,
  TIMELINE_FILTER_PARAMETERS,
} from "../http/event-filter.ts";
import type { Guard } from "../http/guard.ts";
import { LIST_PARAMETERS, LIST_PROBLEMS, readListForm } from "../http/list-answer.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { type Query, readQuery } from "../http/query.ts";
import {
  dropped,
  inOwnTurn,
  invalidCursor,
  MIN_SEQUENCE,
  notFound,
  onceSeen,
  parameter,
  pathParameter,
  reading,
  readMinSequence,
  sequenceWait,
} from "../http/reading.ts";
import { StoredEventAnswer, StoredEventList } from "../http/schemas.ts";
import { STORED_EVENT_EXAMPLE, storedEventText, warnedEventText } from "../http/stored-event.ts";
import { successList, successText } from "../http/success.ts";
import { EVENT_FILE_FORMS, exportEvents } from "./export.ts";

type Dependencies = ExportDependencies & { readonly views: ViewStore };

export const searchRoutes = ({
  guard,
  vocabulary,
  ...dependencies
}: Dependencies & { readonly guard: Guard; readonly vocabulary: EventVocabulary }) => {
  const { views } = dependencies;
  const warn = createWarner(vocabulary.legalBases);
  const view = EVENTS_VIEW;
  return new Elysia({ prefix: "/v1" })
    .get(
      "/events",
      guard(EVENT_LIST, (call) =>
        listEvents(dependencies, call, {
          views: [view],
          ask: readEventFilter,
          found: async (asked) => asked,
        }),
      ),
      { detail: describe(LIST) },
    )
    .get(
      "/events/:event_id",
      guard(
        ONE_EVENT,
        reading(views, {
          view,
          ask: (query) => query.oneOf("warnings", YES_OR_NO) === "true",
          answer: (isWarned, call) => getEvent(views, call, isWarned ? warn : undefined),
        }),
      ),
      { detail: describe(ONE) },
    )
    .get(
      "/assets/:asset_id/timeline",
      guard(EVENT_LIST, (call) =>
        listEvents(dependencies, call, {
          views: [view, assetList.view],
          ask: readTimelineFilter,
          found: async (asked) => {
            const assetId = call.params.asset_id;
            const asset = assetId ? await findAsset(views, call.principal.tenant, assetId) : undefined;
            return assetId && asset ? { ...asked, assetId } : notFound(call, "asset");
          },
        }),
      ),
      { detail: describe(TIMELINE) },
    );
};

const listEvents = async (
  dependencies: Dependencies,
  call: Call,
  list: {
    readonly views: readonly string[];
    readonly ask: (query: Query) => EventConditions;
    /** What is to be searched for, or the answer that there is nothing. */
    readonly found: (asked: EventConditions) => Promise<EventConditions | Response>;
  },
): Promise<Response> => {
  const { views } = dependencies;
  const query = readQuery(call.request.url);
  const asked = list.ask(query);
  const { format, isCounted, ...page } = readListForm(query);
  const minSequence = readMinSequence(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(call.context, "invalid_request", { errors });
  const seeing = { views, projections: list.views, awaited: sequenceWait(minSequence) };
  const search = async (): Promise<EventConditions | Response> => {
    await call.madeViews.check(list.views);
    return list.found(asked);
  };
  if (format !== "json") {
    const conditions = await onceSeen(seeing, search);
    if (conditions === undefined) return problem(call.context, "view_behind");
    return conditions instanceof Response
      ? conditions
      : exportEvents(dependencies, call, { format, conditions, minSequence });
  }
  const response = await onceSeen(
    seeing,
    async () => {
      const conditions = await search();
      if (conditions instanceof Response) return conditions;
      return inOwnTurn(() => getEvents(views, call, { ...conditions, ...page, isCounted }));
    },
    dropped,
  );
  return response ?? problem(call.context, "view_behind");
};

const getEvents = async (
  views: ViewStore,
  call: Call,
  { isCounted, ...asked }: EventFilter & EventPage & { readonly isCounted: boolean },
): Promise<Response> => {
  const { context, principal } = call;
  const found = await searchEvents(views, principal.tenant, asked);
  if (found.kind === "invalid_cursor") return invalidCursor(call);
  const { rows, nextCursor } = found;
  return successList({
    context,
    rowTexts: rows.map(storedEventText),
    nextCursor,
    beside: isCounted ? { count: await countEvents(views, principal.tenant, asked) } : {},
  });
};

const getEvent = async (views: ViewStore, call: Call, warn: Warner | undefined): Promise<Response> => {
  const { context, principal, params } = call;
  const eventId = params.event_id;
  const event = eventId ? await findEvent(views, principal.tenant, eventId) : undefined;
  if (!event) return notFound(call, "event");
  if (event.kind === "expired") return eventExpired(call, event);
  return successText({
    requestId: context.requestId,
    dataText: warn ? warnedEventText(event, warn) : storedEventText(event),
  });
};

export const eventExpired = (
  { context }: Call,
  { sequence, expiredAt }: Extract<FoundEvent, { readonly kind: "expired" }>,
): Response =>
  problem(context, "event_expired", {
    detail: `The event expired at ${expiredAt}. Its record is in the log at sequence ${sequence}.`,
    expired: { sequence, expired_at: expiredAt },
  });

const LIST: Operation = {
  id: "searchEvents",
  tag: "Reading",
  summary: "Search events",
  description: [
    "The tenant's events in the order in which the log received them, newest first unless asked otherwise. All filters must hold.",
    " A file (`format`) is that of `GET /v1/export`, in the order of the log.",
    `\n\nA key of the tenant \`${SYSTEM_TENANT}\` finds what administrators did. ${SYSTEM_EVENTS_TEXT}`,
  ].join(""),
  access: EVENT_LIST,
  parameters: [...EVENT_FILTER_PARAMETERS, ...LIST_PARAMETERS],
  answer: {
    status: 200,
    description: "One page.",
    schema: StoredEventList,
    example: { data: [STORED_EVENT_EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
    others: EVENT_FILE_FORMS,
  },
  problems: LIST_PROBLEMS,
};

const TIMELINE: Operation = {
  ...LIST,
  id: "readTimeline",
  summary: "The events of one AI system",
  description:
    "All events of the asset in the order in which the log received them, newest first unless asked otherwise. All filters must hold.",
  parameters: [pathParameter("asset_id", "credit_model"), ...TIMELINE_FILTER_PARAMETERS, ...LIST_PARAMETERS],
  problems: [...LIST_PROBLEMS, "not_found"],
};

const ONE: Operation = {
  id: "readEvent",
  tag: "Reading",
  summary: "Read one event",
  description: "The event as it was sent, byte for byte, with what the log added.",
  access: ONE_EVENT,
  parameters: [
    pathParameter("event_id", "evt_sample_001"),
    parameter(
      "warnings",
      "`true` adds `warnings` as the answer to sending the event has them, by the rules of today.",
      { type: "string", enum: [...YES_OR_NO], default: "false" },
    ),
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "The stored event.",
    schema: StoredEventAnswer,
    example: { data: STORED_EVENT_EXAMPLE, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "not_found", "event_expired", "view_behind"],
};
