/** Following events live, as Server-Sent Events. */
import { Type } from "@sinclair/typebox";
import {
  STREAM_KEEP_ALIVE_MS,
  STREAM_POSITION_POLL_MS,
  STREAM_RETRY_MS,
  STREAMS_MAX,
  STREAMS_PER_KEY_MAX,
  STREAMS_PER_TENANT_MAX,
} from "../../limits.ts";
import type { Sequence } from "../../log/outcome.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { createQuietStretches, type EventWalk, type Stretch, walkEvents } from "../../views/events/walk.ts";
import { createPositionWatch, type PositionWatch } from "../../views/kit/wait-for-position.ts";
import { LIVE_EVENTS } from "../http/access.ts";
import { invalid, refuse, send } from "../http/answers.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { STREAM_FILTER } from "../http/event-filter.ts";
import { pagedBody } from "../http/paged-body.ts";
import { MIN_SEQUENCE, textAs } from "../http/parameters.ts";
import type { RequestError } from "../http/problem.ts";
import type { Route } from "../http/route.ts";
import { STORED_EXAMPLE, streamKeepAlive, streamMessage, streamOpening } from "../http/stored-event.ts";
import { haveSeenInTime, sequenceWait } from "../http/wait-for-view.ts";

const MEDIA_TYPE = "text/event-stream";
const STREAMS_AT_ONCE = `A key may have ${STREAMS_PER_KEY_MAX} streams open at once, a tenant ${STREAMS_PER_TENANT_MAX}, and this instance ${STREAMS_MAX} in all.`;
const SEQUENCE = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const EXPECTED = "Send the sequence of the last event you saw, 0 for none.";

const HEADER = "Last-Event-ID";
const HEADERS = [
  {
    name: HEADER,
    in: "header",
    description:
      "Sequence of the last event seen: the stream starts after it. Takes precedence over `after`.",
    schema: SEQUENCE,
  },
] as const;

/** In its only spelling: no sign, exponent or leading zeros. */
const readSequence = (text: string) => {
  const sequence = Number(text);
  return /^(?:0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(sequence)
    ? { value: sequence }
    : { message: EXPECTED };
};

export const streamRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { views, streams, logger } = dependencies;
  const watch = createPositionWatch({ views, projection: EVENTS_VIEW, pollMs: STREAM_POSITION_POLL_MS });
  const quiet = createQuietStretches(views);
  return [
    dependencies.route({
      on: "GET /v1/events/stream",
      access: LIVE_EVENTS,
      id: "streamEvents",
      tag: "Reading",
      summary: "Follow events live",
      description: `The tenant's events as Server-Sent Events, as soon as they are stored and in the order of the log, each once. \`id\` is the sequence, \`event\` is \`audit\`, and \`data\` has the form of other reads; raw line breaks between its values make several \`data\` lines. A client that was disconnected sends \`Last-Event-ID\`, as browsers do automatically, and gets what it missed without gap or repeat. Without it and \`after\`, the stream starts with what is stored from now on. A position beyond the end of the log is refused. After ${STREAM_KEEP_ALIVE_MS / 1000} s of silence a comment is sent. Clients reconnect after ${STREAM_RETRY_MS / 1000} s. The stream ends when the service stops or the key does. ${STREAMS_AT_ONCE}`,
      headers: HEADERS,
      query: {
        after: textAs(
          "after",
          "The same as a parameter; 0 starts with the first event.",
          SEQUENCE,
          readSequence,
        ),
        conditions: STREAM_FILTER,
        sequence: MIN_SEQUENCE,
      },
      gives: Type.String(),
      example: streamOpening(0) + streamMessage(STORED_EXAMPLE),
      mediaType: MEDIA_TYPE,
      problems: ["view_behind", "overloaded"],
      answer: async (call) => {
        const { after, conditions, sequence } = call.asked;
        const start = readStart(call.request, after);
        if ("message" in start) return invalid([start]);
        const beyond = await beyondEnd(dependencies, start);
        if (beyond) return invalid([beyond]);
        // The end of the log, because the view may be behind. Read before any wait: "now" is the time of the request.
        const from = start.after ?? (await dependencies.log.lastSequence());
        if (!(await haveSeenInTime(views, [EVENTS_VIEW], sequenceWait(sequence))))
          return refuse("view_behind");
        if (call.request.method === "HEAD") return send(MEDIA_TYPE, null);
        const { tenant } = call.principal;
        const { requestId, keepOpen } = call.context;
        const open = streams.open(call.principal);
        if (!open) return refuse("overloaded", STREAMS_AT_ONCE);
        const next = createLiveTail({
          walk: walkEvents({ views, tenant, conditions, after: from }),
          watch,
          isQuiet: (stretch) => quiet.isQuiet(tenant, stretch),
          isStillAllowed: call.isStillAllowed,
          signal: open.signal,
          keepAliveMs: STREAM_KEEP_ALIVE_MS,
        });
        const failed = (error: unknown): void =>
          logger.warn("a stream was aborted", { request_id: requestId, detail: String(error) });
        return send(MEDIA_TYPE, pagedBody({ next, closed: open.close, failed, keepOpen }));
      },
    }),
  ];
};

interface Start {
  readonly after: number | undefined;
  readonly path: string;
}

/** The header wins: a browser that reconnects sends it together with its original URL. */
const readStart = ({ headers }: Request, after: number | undefined): Start | RequestError => {
  const sent = headers.get(HEADER);
  if (sent === null) return { after, path: "query:after" };
  const path = `header:${HEADER}`;
  const read = readSequence(sent);
  return "value" in read
    ? { after: read.value, path }
    : { path, code: "invalid_value", message: read.message };
};

/** A position beyond the end of the log is refused: events up to it would be skipped silently. */
const beyondEnd = async (
  { views, log }: Pick<Dependencies, "views" | "log">,
  { after = 0, path }: Start,
): Promise<RequestError | undefined> => {
  // A position that the view has seen is in the log, so a stream can continue while the broker is down.
  if (after === 0 || after <= (await views.position(EVENTS_VIEW))) return undefined;
  const end = await log.lastSequence();
  if (after <= end) return undefined;
  const message = `The log ends at ${end}: send the sequence of the last event you saw, at most ${end}, or omit it for what comes from now on.`;
  return { path, code: "invalid_value", message };
};

export const createLiveTail = (tail: {
  readonly walk: EventWalk;
  readonly watch: PositionWatch;
  /** Whether the range has no event of the tenant. */
  readonly isQuiet: (stretch: Stretch) => Promise<boolean>;
  readonly keepAliveMs: number;
  readonly isStillAllowed: () => boolean;
  readonly signal: AbortSignal;
}): (() => Promise<string | undefined>) => {
  const { walk, watch, isQuiet, keepAliveMs, isStillAllowed, signal } = tail;
  let hasOpened = false;
  /** The view's last known position. Events up to it are read without asking again. */
  let end: Sequence = 0;
  let keepAliveAt = performance.now() + keepAliveMs;

  const beyondEnd = async (): Promise<Sequence | undefined> => {
    const after = walk.position();
    const timeoutMs = Math.max(0, keepAliveAt - performance.now());
    const upTo = await watch.beyond(after, { timeoutMs, signal });
    if (upTo !== undefined && (await isQuiet({ after, upTo }))) walk.pass(upTo);
    return upTo;
  };
  return async () => {
    if (!hasOpened) {
      hasOpened = true;
      return streamOpening(walk.position());
    }
    const seen = walk.position() < end ? end : await beyondEnd();
    if (signal.aborted || !isStillAllowed()) return undefined;
    // Also if events keep arriving but none matches this reader's filters.
    if (seen === undefined || performance.now() >= keepAliveAt) {
      keepAliveAt = performance.now() + keepAliveMs;
      return streamKeepAlive(walk.position());
    }
    end = seen;
    const text = (await walk.next(end)).map(streamMessage).join("");
    if (text !== "") keepAliveAt = performance.now() + keepAliveMs;
    return text;
  };
};
