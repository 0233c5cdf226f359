import { Elysia } from "elysia";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import { SYSTEM_EVENTS_TEXT } from "../../administration/system-events.ts";
import { assetList, findAsset } from "../../projections/assets/queries.ts";
import { type FoundEvent, findEvent, searchEvents } from "../../projections/events/queries.ts";
import { EVENTS_VIEW } from "../../projections/events/tables.ts";
import type { ViewStore } from "../../views/view-store.ts";
import {
  EVENT_FILTER_PARAMETERS,
  readEventFilter,
  readTimelineFilter,
  TIMELINE_FILTER_PARAMETERS,
} from "../event-filter.ts";
import type { Call, Guard } from "../guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../openapi.ts";
import { problem } from "../problem.ts";
import type { Query } from "../query.ts";
import {
  inOwnTurn,
  invalidCursor,
  MIN_SEQUENCE,
  notFound,
  PAGE_PARAMETERS,
  pathParameter,
  reading,
  readPage,
} from "../reading.ts";
import { StoredEventAnswer, StoredEventList } from "../schemas.ts";
import { STORED_EVENT_EXAMPLE, storedEventText } from "../stored-event.ts";
import { successList, successText } from "../success.ts";

export const searchRoutes = ({ guard, views }: { readonly guard: Guard; readonly views: ViewStore }) => {
  const view = EVENTS_VIEW;
  return new Elysia({ prefix: "/v1" })
    .get(
      "/events",
      guard(
        "events:read",
        reading(views, { view, ask: readSearch, answer: (asked, call) => getEvents(views, asked, call) }),
      ),
      { detail: describe(LIST) },
    )
    .get(
      "/events/:event_id",
      guard(
        "events:read",
        reading(views, { view, ask: () => undefined, answer: (_, call) => getEvent(views, call) }),
      ),
      { detail: describe(ONE) },
    )
    .get(
      "/assets/:asset_id/timeline",
      guard(
        "events:read",
        reading(views, {
          view: [view, assetList.view],
          ask: (query) => ({ ...readTimelineFilter(query), ...readPage(query) }),
          answer: async (asked, call) => {
            const assetId = call.params.asset_id;
            const asset = assetId ? await findAsset(views, call.principal.tenant, assetId) : undefined;
            return assetId && asset ? getEvents(views, { ...asked, assetId }, call) : notFound(call, "asset");
          },
        }),
      ),
      { detail: describe(TIMELINE) },
    );
};

const readSearch = (query: Query) => ({ ...readEventFilter(query), ...readPage(query) });

const getEvents = (views: ViewStore, asked: ReturnType<typeof readSearch>, call: Call): Promise<Response> =>
  inOwnTurn(async () => {
    const { context, principal } = call;
    const found = await searchEvents(views, principal.tenant, asked);
    if (found.kind === "invalid_cursor") return invalidCursor(call);
    const { rows, nextCursor } = found;
    return successList({ context, rowTexts: rows.map(storedEventText), nextCursor });
  });

const getEvent = async (views: ViewStore, call: Call): Promise<Response> => {
  const { context, principal, params } = call;
  const eventId = params.event_id;
  const event = eventId ? await findEvent(views, principal.tenant, eventId) : undefined;
  if (!event) return notFound(call, "event");
  if (event.kind === "expired") return eventExpired(call, event);
  return successText({ requestId: context.requestId, dataText: storedEventText(event) });
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
    `\n\nA key of the tenant \`${SYSTEM_TENANT}\` finds what administrators did. ${SYSTEM_EVENTS_TEXT}`,
  ].join(""),
  scope: "events:read",
  parameters: [...EVENT_FILTER_PARAMETERS, ...PAGE_PARAMETERS],
  answer: {
    status: 200,
    description: "One page.",
    schema: StoredEventList,
    example: { data: [STORED_EVENT_EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "view_behind"],
};

const TIMELINE: Operation = {
  ...LIST,
  id: "readTimeline",
  summary: "The events of one AI system",
  description:
    "All events of the asset in the order in which the log received them, newest first unless asked otherwise. All filters must hold.",
  parameters: [pathParameter("asset_id", "credit_model"), ...TIMELINE_FILTER_PARAMETERS, ...PAGE_PARAMETERS],
  problems: ["invalid_request", "not_found", "view_behind"],
};

const ONE: Operation = {
  id: "readEvent",
  tag: "Reading",
  summary: "Read one event",
  description: "The event as it was sent, byte for byte, with what the log added.",
  scope: "events:read",
  parameters: [pathParameter("event_id", "evt_sample_001"), MIN_SEQUENCE],
  answer: {
    status: 200,
    description: "The stored event.",
    schema: StoredEventAnswer,
    example: { data: STORED_EVENT_EXAMPLE, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "not_found", "event_expired", "view_behind"],
};
