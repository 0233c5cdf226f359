import { Elysia } from "elysia";
import { RISK_TIERS } from "../../event/audit-event.ts";
import { isSha256, isUtcTimestamp } from "../../event/formats.ts";
import { MIN_SEQUENCE_WAIT_MS_MAX, PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from "../../limits.ts";
import { eventsProjection } from "../../projections/events/evolve.ts";
import { findEvent, type StoredEvent, searchEvents } from "../../projections/events/queries.ts";
import { waitForPosition } from "../../projections/wait-for-position.ts";
import type { ViewStore } from "../../views/view-store.ts";
import type { Call, Guard } from "../guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation, type Parameter } from "../openapi.ts";
import { problem } from "../problem.ts";
import { type Query, readQuery } from "../query.ts";
import { StoredEventAnswer, StoredEventList } from "../schemas.ts";
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
  const filter = readFilter(query);
  const minSequence = query.integer("min_sequence", MIN_SEQUENCE_BOUNDS);
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
  const minSequence = query.integer("min_sequence", MIN_SEQUENCE_BOUNDS);
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  if (!(await hasReached(views, minSequence))) return problem(context, "view_behind");
  const eventId = params.event_id;
  const event = eventId ? await findEvent(views, principal.tenant, eventId) : undefined;
  if (!event)
    return problem(context, "not_found", { detail: "There is no such event in the tenant of this key." });
  return successText({ requestId: context.requestId, dataText: storedEventText(event) });
};

const MIN_SEQUENCE_BOUNDS = { min: 0, max: Number.MAX_SAFE_INTEGER };

const hasReached = async (views: ViewStore, sequence: number | undefined): Promise<boolean> =>
  sequence === undefined ||
  (await waitForPosition({
    views,
    projection: eventsProjection.name,
    sequence,
    timeoutMs: MIN_SEQUENCE_WAIT_MS_MAX,
  }));

/** The event's own text is put in as it was sent. */
const storedEventText = ({ sequence, tenant, receivedAt, eventText }: StoredEvent): string =>
  `{"sequence":${sequence},"tenant":"${tenant}","received_at":"${receivedAt}","event":${eventText}}`;

const GROUP = /^[a-z][a-z0-9_]*\.\*$/;

const readFilter = (query: Query) => {
  const type = query.text("event_type");
  const isGroup = type !== undefined && GROUP.test(type);
  const time = (name: string): string | undefined =>
    query.checked(name, isUtcTimestamp, "a time as RFC 3339 in UTC, for example 2026-11-20T10:00:00Z");
  return {
    assetId: query.text("asset_id"),
    eventType: isGroup ? undefined : type,
    eventGroup: isGroup ? type.slice(0, -2) : undefined,
    riskTier: query.checked(
      "risk_tier",
      (tier) => RISK_TIERS.some((known) => known === tier),
      `one of ${RISK_TIERS.join(", ")}`,
    ),
    legalBasis: query.text("legal_basis"),
    correlationId: query.text("correlation_id"),
    subjectHash: query.checked(
      "subject_hash",
      isSha256,
      'a hash written as "sha256:" and 64 hexadecimal digits',
    ),
    traceId: query.text("trace_id"),
    tags: query.prefixed("tag."),
    from: time("from"),
    to: time("to"),
    timeField: query.choice("time_field", ["timestamp", "received_at"], "timestamp"),
    order: query.choice("order", ["desc", "asc"], "desc"),
    limit: query.integer("limit", { min: 1, max: PAGE_ROWS_MAX }) ?? PAGE_ROWS_DEFAULT,
    cursor: query.text("cursor"),
  };
};

const parameter = (
  name: string,
  description: string,
  schema: Parameter["schema"] = { type: "string" },
): Parameter => ({
  name,
  in: "query",
  description,
  schema,
});

const MIN_SEQUENCE = parameter(
  "min_sequence",
  `Wait until the view has seen this sequence, up to ${MIN_SEQUENCE_WAIT_MS_MAX / 1000} s: so a writer reads its own write.`,
  { type: "integer", minimum: 0 },
);

const EXAMPLE = {
  sequence: 1,
  tenant: "default",
  received_at: "2026-11-20T10:00:00.512Z",
  event: {
    event_id: "evt_sample_001",
    timestamp: "2026-11-20T10:00:00.000Z",
    asset_id: "credit_model",
    event_type: "decision.automated_decision_made",
  },
};

const LIST: Operation = {
  id: "searchEvents",
  tag: "Reading",
  summary: "Search events",
  description:
    "The tenant's events in the order in which the log received them, newest first unless asked otherwise. All filters must hold.",
  scope: "events:read",
  parameters: [
    parameter("asset_id", "Exactly this asset."),
    parameter(
      "event_type",
      "Exactly this type, or a group: `decision.*`. The six legacy types are the group `legacy.*`.",
    ),
    parameter("risk_tier", "Exactly this tier.", { type: "string", enum: [...RISK_TIERS] }),
    parameter(
      "legal_basis",
      "Events that name this basis, also inside `metadata.legal_bases` where the event has none of its own.",
    ),
    parameter("correlation_id", "Exactly this group of events."),
    parameter(
      "subject_hash",
      "The person concerned; also found in `metadata.user_id_hash` and `metadata.recipient_hash`.",
    ),
    parameter("trace_id", "Exactly this trace."),
    parameter("tag.<key>", "Events with this tag: `tag.team=credit`. May be given for several keys."),
    parameter("from", "At or after this time, RFC 3339 in UTC.", { type: "string", format: "date-time" }),
    parameter("to", "Before this time, RFC 3339 in UTC.", { type: "string", format: "date-time" }),
    parameter("time_field", "What `from` and `to` speak of.", {
      type: "string",
      enum: ["timestamp", "received_at"],
      default: "timestamp",
    }),
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
    example: { data: [EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
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
    example: { data: EXAMPLE, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request", "not_found", "view_behind"],
};
