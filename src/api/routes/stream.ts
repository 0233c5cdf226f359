import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  STREAM_KEEP_ALIVE_MS,
  STREAM_POSITION_POLL_MS,
  STREAM_RETRY_MS,
  STREAMS_MAX,
  STREAMS_PER_KEY_MAX,
  STREAMS_PER_TENANT_MAX,
} from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { EventConditions } from "../../views/events/queries.ts";
import { createQuietStretches, type QuietStretches } from "../../views/events/quiet-stretch.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { walkEvents } from "../../views/events/walk.ts";
import { createPositionWatch, type PositionWatch } from "../../views/kit/position-watch.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { LIVE_EVENTS } from "../http/access.ts";
import type { Call } from "../http/call.ts";
import { readStreamFilter, STREAM_FILTER_PARAMETERS } from "../http/event-filter.ts";
import { readSequence, streamMessage, streamOpening } from "../http/event-stream.ts";
import type { Guard } from "../http/guard.ts";
import { createLiveTail } from "../http/live-tail.ts";
import type { OpenStream, OpenStreams } from "../http/open-streams.ts";
import { describe, type Operation } from "../http/openapi.ts";
import { pagedBody } from "../http/paged-body.ts";
import { problem, type RequestError } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import {
  countFrom,
  haveSeenInTime,
  MIN_SEQUENCE,
  parameter,
  readMinSequence,
  sequenceWait,
} from "../http/reading.ts";
import { STORED_EVENT_EXAMPLE } from "../http/stored-event.ts";
import { successStream } from "../http/success.ts";

interface Dependencies {
  readonly guard: Guard;
  readonly views: ViewStore;
  readonly log: Pick<LogReader, "lastSequence">;
  readonly streams: OpenStreams;
  readonly logger: Logger;
}

/** Shared by all streams. */
interface Following {
  readonly watch: PositionWatch;
  readonly quiet: QuietStretches;
}

export const streamRoutes = (dependencies: Dependencies) => {
  const { guard, views } = dependencies;
  const following: Following = {
    watch: createPositionWatch({
      views,
      projection: EVENTS_VIEW,
      pollMs: STREAM_POSITION_POLL_MS,
    }),
    quiet: createQuietStretches(views),
  };
  return new Elysia({ prefix: "/v1" }).get(
    "/events/stream",
    guard(LIVE_EVENTS, (call) => getStream(dependencies, following, call)),
    { detail: describe(STREAM) },
  );
};

const MEDIA_TYPE = "text/event-stream";

const getStream = async (dependencies: Dependencies, following: Following, call: Call): Promise<Response> => {
  const { request, context, principal } = call;
  const query = readQuery(request.url);
  const conditions = readStreamFilter(query);
  const start = readStart(request, query.text("after"));
  const minSequence = readMinSequence(query);
  const errors = [...query.errors(), ...start.errors];
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const beyond = await beyondEnd(dependencies, start);
  if (beyond) return problem(context, "invalid_request", { errors: [beyond] });
  // The end of the log, because the view may be behind. Read before any wait: "from now on" begins with the request.
  const after = start.after ?? (await dependencies.log.lastSequence());
  if (!(await haveSeenInTime(dependencies.views, [EVENTS_VIEW], sequenceWait(minSequence))))
    return problem(context, "view_behind");
  const answer = { requestId: context.requestId, mediaType: MEDIA_TYPE };
  if (request.method === "HEAD") return successStream({ ...answer, body: null });
  const open = dependencies.streams.open(principal);
  if (!open) {
    return problem(context, "overloaded", { detail: STREAMS_AT_ONCE });
  }
  return successStream({
    ...answer,
    body: liveBody(dependencies, { following, call, conditions, after, open }),
  });
};

const liveBody = (
  { views, logger }: Dependencies,
  parts: {
    readonly following: Following;
    readonly call: Call;
    readonly conditions: EventConditions;
    readonly after: number;
    readonly open: OpenStream;
  },
): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const { following, call, conditions, after, open } = parts;
  const { watch, quiet } = following;
  const { context, principal, isStillAllowed } = call;
  const { tenant } = principal;
  const walk = walkEvents({ views, tenant, conditions, after });
  const { signal, close } = open;
  const { next } = createLiveTail({
    walk,
    watch,
    isQuiet: (stretch) => quiet.isQuiet(tenant, stretch),
    isStillAllowed,
    signal,
    keepAliveMs: STREAM_KEEP_ALIVE_MS,
  });
  const failed = (error: unknown): void =>
    logger.warn("a stream was broken off", { request_id: context.requestId, detail: String(error) });
  return pagedBody({ next, closed: close, failed, keepOpen: context.keepOpen });
};

interface Start {
  readonly after: number | undefined;
  /** Where `after` was sent: header or query. */
  readonly path: string;
  readonly errors: readonly RequestError[];
}

/** The header wins: a browser that reconnects sends it together with its original URL. */
const readStart = (request: Request, parameterText: string | undefined): Start => {
  const header = request.headers.get("last-event-id") ?? undefined;
  const sent = [
    { path: "header:Last-Event-ID", text: header },
    { path: "query:after", text: parameterText },
  ];
  const errors = sent
    .filter(({ text }) => text !== undefined && readSequence(text) === undefined)
    .map(({ path }) => ({
      path,
      code: "invalid_value",
      message: "Send the sequence of the last event that you have seen, 0 for none.",
    }));
  const text = header ?? parameterText;
  const after = text === undefined ? undefined : readSequence(text);
  return { after, path: header === undefined ? "query:after" : "header:Last-Event-ID", errors };
};

/**
 * Refuses a position beyond the end of the log: events up to it would be skipped silently. The log decides, because a view may be behind.
 */
const beyondEnd = async (
  { views, log }: Pick<Dependencies, "views" | "log">,
  { after = 0, path }: Start,
): Promise<RequestError | undefined> => {
  // A position that the view has seen is in the log. So a stream can continue while the broker is away.
  if (after === 0 || after <= (await views.position(EVENTS_VIEW))) return undefined;
  const end = await log.lastSequence();
  if (after <= end) return undefined;
  const message = `The log ends at ${end}: send the sequence of the last event that you have seen, at most ${end}, or leave it out for what comes from now on.`;
  return { path, code: "invalid_value", message };
};

const STREAMS_AT_ONCE = `A key may have ${STREAMS_PER_KEY_MAX} streams open at once, a tenant ${STREAMS_PER_TENANT_MAX}, and this instance ${STREAMS_MAX} in all.`;

const STREAM: Operation = {
  id: "streamEvents",
  tag: "Reading",
  summary: "Follow events live",
  description: [
    "The tenant's events as Server-Sent Events, as soon as they are stored and in the order of the log, each once.",
    "`id` is the sequence, `event` is `audit`, and `data` has the form that other reads give.",
    "A client that was cut off sends `Last-Event-ID`, as browsers do by themselves, and gets what it missed without gap or repeat.",
    "Without it, and without `after`, the stream begins with what is stored from now on. A position beyond the end of the log is refused.",
    `A comment is sent when nothing else was for ${STREAM_KEEP_ALIVE_MS / 1000} s. Clients reconnect after ${STREAM_RETRY_MS / 1000} s.`,
    "The stream ends when the service stops or the key does.",
    "An event that was sent with raw line breaks between its values is sent in several `data` lines, each break as a line feed.",
    STREAMS_AT_ONCE,
  ].join(" "),
  access: LIVE_EVENTS,
  parameters: [
    {
      name: "Last-Event-ID",
      in: "header",
      description:
        "Sequence of the last event seen: the stream begins after it. Takes precedence over `after`.",
      schema: countFrom(0),
    },
    parameter("after", "The same as a parameter; 0 begins with the first event.", countFrom(0)),
    ...STREAM_FILTER_PARAMETERS,
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "The stream. It does not end by itself.",
    schema: Type.String(),
    example:
      streamOpening(0) +
      streamMessage({
        sequence: STORED_EVENT_EXAMPLE.sequence,
        tenant: STORED_EVENT_EXAMPLE.tenant,
        receivedAt: STORED_EVENT_EXAMPLE.received_at,
        eventText: JSON.stringify(STORED_EVENT_EXAMPLE.event),
      }),
    mediaType: MEDIA_TYPE,
  },
  problems: ["invalid_request", "view_behind", "log_unavailable", "overloaded"],
};
