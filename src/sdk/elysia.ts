/**
 * `prooftrail-sdk/elysia`: puts a recorder into the context of each request, and records events of whole requests. The only file of the SDK that
 * needs a package.
 *
 *     new Elysia().use(audit(client)).post("/score", ({ audit, body }) => score(audit, body), {
 *       audit: ({ response, durationMs }) => ({ asset_id: "credit_model", event_type: "ai_inference", metadata: { … } }),
 *     });
 */
import { setImmediate } from "node:timers";
import { Elysia, ElysiaCustomStatusResponse, StatusMap } from "elysia";
import type { Client } from "./client.ts";
import { attempt, record } from "./described-event.ts";
import type { CaptureEvent, SharedMembers } from "./event.ts";
import { CORRELATION_ID_CHARACTERS_MAX } from "./limits.ts";
import type { Recorder } from "./recorder.ts";
import { readTraceparent } from "./trace-context.ts";
import { uuid7 } from "./uuid.ts";

export interface AnsweredRequest {
  readonly method: string;
  /** The path of the request's URL. */
  readonly path: string;
  /** What the handler returned; undefined if it threw. */
  readonly response: unknown;
  /** The status as Elysia knows it. If an `onError` of the app returns a Response, that Response may have another status. */
  readonly status: number;
  /** What the handler threw, or why the request did not reach it. */
  readonly error: unknown;
  /** Time from before validation to the answer, in whole milliseconds. For a streamed answer, to its beginning. */
  readonly durationMs: number;
}

export interface ElysiaAuditOptions {
  /** Closes the client when the app has stopped; default true. */
  readonly closeOnStop?: boolean;
}

type RequestMembers = Pick<SharedMembers, "correlation_id" | "trace_id" | "span_id">;

interface AuditedRequest<Extra extends string> {
  readonly recorder: Recorder<Extra, keyof RequestMembers>;
  readonly method: string;
  readonly path: string;
  readonly startedMs: number;
  describe?: (answered: AnsweredRequest) => CaptureEvent<Extra> | undefined;
}

/** Gives each plugin a seed of its own: Elysia applies plugins of the same name and seed only once. */
let plugins = 0;

/**
 * A plugin for the routes that are added after it. Their context has `audit`, a recorder whose events get the request's `x-request-id` as
 * `correlation_id` (a new UUIDv7 if there is none) and trace and span of its `traceparent`. The route option `audit` returns the event of a request
 * whose body could be parsed, after its answer, or undefined for none; `duration_ms` is filled in.
 */
export const audit = <Extra extends string = never>(
  client: Client<Extra>,
  { closeOnStop = true }: ElysiaAuditOptions = {},
) => {
  const requests = new WeakMap<Request, AuditedRequest<Extra>>();
  // Elysia prepares what a hook's parameters name. These hooks do not name the body, which a handler may want to read itself.
  return new Elysia({ name: "prooftrail-sdk/elysia", seed: ++plugins })
    .derive({ as: "global" }, ({ request, path }) => {
      const recorder = client.with(membersOf(request.headers));
      requests.set(request, { recorder, method: request.method, path, startedMs: performance.now() });
      return { audit: recorder };
    })
    .macro({
      audit: (describe: (answered: AnsweredRequest) => CaptureEvent<Extra> | undefined) => ({
        transform: ({ request }: { readonly request: Request }) => {
          const audited = requests.get(request);
          if (audited) audited.describe = describe;
        },
      }),
    })
    .onAfterResponse({ as: "global" }, (answered) => {
      const { request, responseValue, set } = answered;
      const audited = requests.get(request);
      if (!audited?.describe) return;
      const { recorder, describe, method, path, startedMs } = audited;
      const durationMs = Math.round(performance.now() - startedMs);
      const error: unknown = "error" in answered ? answered.error : undefined;
      const described = attempt("audit", () =>
        describe({ method, path, ...answerOf(responseValue, set.status), error, durationMs }),
      );
      record(recorder, described, { duration_ms: durationMs });
    })
    .onStop(() => {
      // The last answers are recorded in the turn of the event loop after they were sent.
      if (closeOnStop) setImmediate(() => void client.close());
    });
};

const REQUEST_ID = new RegExp(`^[!-~]{1,${CORRELATION_ID_CHARACTERS_MAX}}$`);

const membersOf = (headers: Headers): RequestMembers => {
  const requestId = headers.get("x-request-id") ?? "";
  const span = readTraceparent(headers.get("traceparent"));
  return {
    correlation_id: REQUEST_ID.test(requestId) ? requestId : uuid7(Date.now()),
    ...(span && { trace_id: span.traceId, span_id: span.spanId }),
  };
};

const OK = 200;

const answerOf = (
  value: unknown,
  set: number | keyof StatusMap | undefined,
): { readonly response: unknown; readonly status: number } => {
  if (value instanceof ElysiaCustomStatusResponse) return { response: value.response, status: value.code };
  if (value instanceof Response) return { response: value, status: value.status };
  return { response: value, status: typeof set === "string" ? StatusMap[set] : (set ?? OK) };
};
