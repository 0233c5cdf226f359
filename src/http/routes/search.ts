import { Elysia } from "elysia";
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from "../../limits.ts";
import { findEvent, searchEvents } from "../../projections/events/queries.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { EVENT_FILTER_PARAMETERS, parameter, readEventFilter } from "../event-filter.ts";
import type { Call, Guard } from "../guard.ts";
import { hasReached, MIN_SEQUENCE, readMinSequence } from "../min-sequence.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../openapi.ts";
import { problem } from "../problem.ts";
import { type Query, readQuery } from "../query.ts";
import { StoredEventAnswer, StoredEventList } from "../schemas.ts";
import { STORED_EVENT_EXAMPLE, storedEventText } from "../stored-event.ts";
import { successList, successText } from "../success.ts";

export const searchRoutes = ({ guard, views }: { readonly guard: Guard; readonly views: ViewStore }) =>
  new Elysia({ prefix: "/v1" })
    .get(
      "/events",
      guard("events:read", (call) => getEvents(views, call)),
      { detail: describe(LIST) },
    )
    .get(
      "/events/:event_id",
      guard("events:read", (call) => getEvent(views, call)),
      { detail: describe(ONE) },
    );

const getEvents = async (views: ViewStore, call: Call): Promise<Response> => {
  const { request, context, principal } = call;
  const query = readQuery(request.url);
  const filter = readSearch(query);
  const minSequence = readMinSequence(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  if (!(await hasReached(views, minSequence))) return problem(context, "view_behind");
  const found = await searchEvents(views, principal.tenant, filter);
  if (found.kind === "invalid_cursor") {
    const message = "Send the next_cursor of the page before, with the same filters, or none.";
    return problem(context, "invalid_request", {
      errors: [{ path: "query:cursor", code: "invalid_value", message }],
    });
  }
  const { rows, nextCursor } = found;
  return successList({ requestId: context.requestId, rowTexts: rows.map(storedEventText), nextCursor });
};

const getEvent = async (
  views: ViewStore,
  { request, context, principal, params }: Call,
): Promise<Response> => {
  const query = readQuery(request.url);
  const minSequence = readMinSequence(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  if (!(await hasReached(views, minSequence))) return problem(context, "view_behind");
  const eventId = params.event_id;
  const event = eventId ? await findEvent(views, principal.tenant, eventId) : undefined;
  if (!event)
    return problem(context, "not_found", { detail: "There is no such event in the tenant of this key." });
  return successText({ requestId: context.requestId, dataText: storedEventText(event) });
};

const readSearch = (query: Query) => ({
  ...readEventFilter(query),
  order: query.choice("order", ["desc", "asc"], "desc"),
  limit: query.integer("limit", { min: 1, max: PAGE_ROWS_MAX }) ?? PAGE_ROWS_DEFAULT,
  cursor: query.text("cursor"),
});

const LIST: Operation = {
  id: "searchEvents",
  tag: "Reading",
  summary: "Search events",
  description:
    "The tenant's events in the order in which the log received them, newest first unless asked otherwise. All filters must hold.",
  scope: "events:read",
  parameters: [
    ...EVENT_FILTER_PARAMETERS,
    parameter("order", "By sequence.", { type: "string", enum: ["desc", "asc"], default: "desc" }),
    parameter("limit", "Rows in one answer.", {
      type: "integer",
      minimum: 1,
      maximum: PAGE_ROWS_MAX,
      default: PAGE_ROWS_DEFAULT,
    }),
    parameter("cursor", "`next_cursor` of the page before, with the same filters."),
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "One page.",
    schema: StoredEventList,
    example: { data: [STORED_EVENT_EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "view_behind"],
};

const ONE: Operation = {
  id: "readEvent",
  tag: "Reading",
  summary: "Read one event",
  description: "The event as it was sent, byte for byte, with what the log added.",
  scope: "events:read",
  parameters: [
    {
      name: "event_id",
      in: "path",
      required: true,
      description: "Percent-encoded.",
      schema: { type: "string" },
      example: "evt_sample_001",
    },
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "The stored event.",
    schema: StoredEventAnswer,
    example: { data: STORED_EVENT_EXAMPLE, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "not_found", "view_behind"],
};
