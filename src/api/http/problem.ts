/**
 * The catalogue of error codes, and the only place that knows their statuses. Bodies follow RFC 9457. A body never contains the payload, a
 * secret or a stack.
 */
import { isOfTenant, type RateDecision } from "../../access/rate-limit.ts";
import type { Problem as FieldProblem } from "../../event/validate.ts";
import {
  BATCH_BODY_BYTES_MAX,
  CASE_NEIGHBOURS_MAX,
  EVENT_BYTES_MAX,
  EVIDENCE_BYTES_MAX,
  EVIDENCE_RECORDS_MAX,
  OBJECT_BODY_BYTES_MAX,
  PROBLEMS_PER_EVENT_MAX,
  SANDBOX_REQUESTS_PER_MINUTE,
  SINGLE_BODY_BYTES_MAX,
} from "../../limits.ts";
import { WATERMARK, WATERMARK_MEMBER } from "../sandbox/watermark.ts";
import { headersOf, type RequestContext } from "./request-context.ts";

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** When it occurs, and what to check. Printed in the API documentation. */
  readonly when: string;
  /** Default: 1 with 503. */
  readonly retryAfterSeconds?: number;
}

export const PROBLEMS = {
  invalid_json: {
    status: 400,
    title: "The body is not valid JSON",
    when: "The body breaks the grammar of RFC 8259; `detail` says where, in bodies of up to 256 KiB.",
  },
  invalid_utf8: {
    status: 400,
    title: "The body is not valid UTF-8",
    when: "The body has bytes that are not UTF-8 text. Nothing is replaced silently.",
  },
  invalid_request: {
    status: 400,
    title: "The request is not valid",
    when: "A field, header or query parameter breaks a rule; `errors` names each of them.",
  },
  missing_api_key: {
    status: 401,
    title: "An API key is required",
    when: "There is no `Authorization: Bearer <key>` header, and no session.",
  },
  invalid_api_key: {
    status: 401,
    title: "The API key is not valid",
    when: "The key is misspelt, unknown, revoked or expired, or there is more than one `Authorization` header.",
  },
  session_ended: {
    status: 401,
    title: "The session has ended",
    when: "The session cookie is not valid: the session was idle too long or reached its limit, its key was revoked, or it was not issued here. Sign in again.",
  },
  csrf_token_required: {
    status: 403,
    title: "The CSRF token is missing",
    when: "A write with a session needs the header `X-CSRF-Token`: `csrf_token` from `GET /v1/session`. Nothing was done.",
  },
  insufficient_scope: {
    status: 403,
    title: "The API key may not do this",
    when: "The key lacks the scope in `detail`, or asks for another tenant, which only the admin key reaches.",
  },
  outside_role: {
    status: 403,
    title: "The role may not do this",
    when: "The key is a seat whose role may not use this path; `detail` says which roles may.",
  },
  outside_seat: {
    status: 403,
    title: "The seat does not cover this",
    when: "The key is an auditor's seat limited to some systems or a time range, and this lies outside it or cannot be limited to it; `detail` says why.",
  },
  embed_token_exceeded: {
    status: 403,
    title: "The token does not allow this",
    when: "An embed token is bound to its filter and origins. The request asks for more, or comes from another origin. Nothing was read.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    when: "Nothing is at this path, or nothing that this key may see.",
  },
  no_api: {
    status: 404,
    title: "No API here",
    when: "This process does not have the role api (ROLES): it answers /health/live, /health/ready and /metrics only. Use one that has it.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    when: "The path exists; the `Allow` header names its methods.",
  },
  request_timeout: {
    status: 408,
    title: "The body did not arrive in time",
    when: "The body was not complete in time, and the connection is closed. Retrying is safe.",
  },
  event_id_conflict: {
    status: 409,
    title: "Another event has this event_id",
    when: "The log has this event_id with different content; after ten minutes only a request with `resent=true` finds it. Events never change: send a new event_id.",
  },
  changed_meanwhile: {
    status: 409,
    title: "Someone else changed it first",
    when: "Someone else changed the key, policy or hold during each attempt. Nothing was done. Retry.",
  },
  log_not_behind: {
    status: 409,
    title: "The event log has not lost its end",
    when: "The log holds everything that heads in HEADS_COPY cover, or HEADS_COPY is not set: there is nothing to accept.",
  },
  obligation_state_conflict: {
    status: 409,
    title: "The obligation's state rules this out",
    when: "A met or waived obligation cannot be waived; one that is not waived cannot be unwaived. Neither works once its starting event has expired. Nothing was done.",
  },
  event_expired: {
    status: 410,
    title: "The event has expired",
    when: "The tenant's retention has removed the event from the views. Its record stays in the log forever: `sequence` is its position, `expired_at` when it expired.",
  },
  case_shared: {
    status: 409,
    title: "Too many share the correlation_id",
    when: `More than ${CASE_NEIGHBOURS_MAX} decisions, objections or incidents have this correlation_id, so they are not one case. Read \`GET /v1/decisions/{decision_id}\` for each, or \`GET /v1/events?correlation_id=…\` for all.`,
  },
  case_expired: {
    status: 410,
    title: "The case has expired",
    when: "The tenant's retention has removed all events of the case, or all that were kept of the decision, and its rows in the registers. The records stay in the log forever.",
  },
  payload_too_large: {
    status: 413,
    title: "The body is too large",
    when: `Limits: an event ${EVENT_BYTES_MAX} bytes, its request ${SINGLE_BODY_BYTES_MAX}, a batch ${BATCH_BODY_BYTES_MAX}, any other body ${OBJECT_BODY_BYTES_MAX}.`,
  },
  evidence_too_large: {
    status: 413,
    title: "The evidence bundle would be too large",
    when: `A bundle holds at most ${EVIDENCE_RECORDS_MAX} records, ${EVIDENCE_BYTES_MAX / 1024 / 1024} MiB in all. Split it by asset_id, correlation_id, decision_id or subject_hash, or into shorter periods with from and to.`,
  },
  unsupported_media_type: {
    status: 415,
    title: "Send application/json, plain or compressed with gzip or zstd",
    when: "The Content-Type is not application/json in UTF-8, or the Content-Encoding is neither gzip nor zstd.",
  },
  idempotency_key_reused: {
    status: 422,
    title: "The Idempotency-Key was used for another event",
    when: "This Idempotency-Key came with different content within ten minutes.",
  },
  rate_limited: {
    status: 429,
    title: "A rate limit is exceeded",
    when: `The key exceeded its limit of requests or events per second, or a client ${SANDBOX_REQUESTS_PER_MINUTE} requests per minute to the sandbox. Nothing was stored. Wait for the time in \`Retry-After\`.`,
  },
  internal_error: {
    status: 500,
    title: "Internal error",
    when: "A bug in Prooftrail. Give the request_id to its operator. Retrying an event is safe: it is stored at most once. For a key, policy or hold, first check whether it changed.",
  },
  log_behind: {
    status: 503,
    title: "The event log may have lost its end",
    when: "The log lacks records that its views have seen or that signed heads in HEADS_COPY cover, for example after an older copy was restored, or a damaged file there leaves this unknown. Nothing is stored until its operator restores what is missing or accepts the loss; `/health/ready` says more.",
    retryAfterSeconds: 60,
  },
  log_unavailable: {
    status: 503,
    title: "The event log is not available",
    when: "The event may or may not be stored. Retrying is safe: it is stored at most once.",
  },
  not_sealed: {
    status: 503,
    title: "The event is not sealed yet",
    when: "The event is in the log, but no signed tree head includes it yet: that takes about CHECKPOINT_INTERVAL. Retry, or use `wait`.",
  },
  not_ready: {
    status: 503,
    title: "Not ready",
    when: "This instance cannot serve now; `reasons` says why.",
  },
  overloaded: {
    status: 503,
    title: "Too many requests at once",
    when: "Nothing was stored. Retry after the time in `Retry-After`.",
  },
  view_behind: {
    status: 503,
    title: "The view has not caught up yet",
    when: "The view did not reach `min_sequence` in time; with `wait` for a proof, or with `resent`, it did not reach the end of the log. With `resent` nothing was stored. Retry.",
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];

/** Of a key, or of a client of the sandbox. Header fields by IETF draft-ietf-httpapi-ratelimit-headers-10. */
export const limitedRate = (
  { limit, retryAfterSeconds }: Extract<RateDecision, { readonly kind: "limited" }>,
  keyId?: string,
): ProblemDetails => {
  const { holder, unit, quota, windowSeconds } = limit;
  const name = keyId === undefined ? "sandbox" : unit;
  const said =
    keyId === undefined
      ? `A client may send ${quota} requests per minute to the sandbox.`
      : `${whoseLimit(holder, keyId)} ${quota / windowSeconds} ${unit} per second.`;
  return {
    detail: `${said} Nothing was stored.`,
    headers: {
      "retry-after": String(retryAfterSeconds),
      "ratelimit-policy": `"${name}";q=${quota};w=${windowSeconds}`,
      ratelimit: `"${name}";r=0;t=${retryAfterSeconds}`,
    },
  };
};

const whoseLimit = (holder: string, keyId: string): string => {
  if (holder === keyId) return "The key may send";
  return isOfTenant(holder)
    ? "The keys of the tenant may together send"
    : "The key, the key that it derives from and all others derived from that may together send";
};

/** What is wrong at one place in the request. `path` is a JSON Pointer into the body, or `query:name`, `header:name`. */
export interface RequestError {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export interface ProblemDetails {
  readonly detail?: string;
  readonly errors?: readonly (FieldProblem | RequestError)[];
  readonly reasons?: readonly string[];
  readonly reasonIds?: readonly string[];
  readonly expired?: { readonly sequence: number; readonly expired_at: string };
  readonly headers?: Readonly<Record<string, string>>;
}

export const problemType = (code: ProblemCode): string => `urn:prooftrail:problem:${code}`;

export const problem = (
  context: Pick<RequestContext, "requestId" | "isSandbox" | "problemCode">,
  code: ProblemCode,
  details: ProblemDetails = {},
): Response => {
  context.problemCode = code;
  const { status, title, when, ...kind }: ProblemKind = PROBLEMS[code];
  const { retryAfterSeconds = status === 503 ? 1 : undefined } = kind;
  const errors = details.errors?.slice(0, PROBLEMS_PER_EVENT_MAX);
  const body = {
    type: problemType(code),
    title,
    status,
    detail: details.detail ?? tooMany(details.errors) ?? when,
    code,
    request_id: context.requestId,
    ...(errors && { errors }),
    ...(details.reasons && { reasons: details.reasons }),
    ...(details.reasonIds && { reason_ids: details.reasonIds }),
    ...details.expired,
    ...(context.isSandbox && { [WATERMARK_MEMBER]: WATERMARK }),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...headersOf(context),
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
      ...details.headers,
    },
  });
};

const tooMany = (errors: ProblemDetails["errors"] = []): string | undefined =>
  errors.length <= PROBLEMS_PER_EVENT_MAX
    ? undefined
    : `The request has ${errors.length} problems; the first ${PROBLEMS_PER_EVENT_MAX} are listed.`;
