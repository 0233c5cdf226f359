import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Principal } from "../../access/authenticate.ts";
import type { KeyLimiter } from "../../access/key-limiter.ts";
import { auditEventSchema, type EventVocabulary } from "../../event/audit-event.ts";
import {
  BATCH_BODY_BYTES_MAX,
  BATCH_EVENTS_MAX,
  EVENT_BYTES_MAX,
  IDEMPOTENCY_KEY_CHARACTERS_MAX,
  MIN_SEQUENCE_WAIT_MS_MAX,
  SINGLE_BODY_BYTES_MAX,
} from "../../limits.ts";
import { SENDING } from "../http/access.ts";
import type { BodyReader } from "../http/body.ts";
import type { Call } from "../http/call.ts";
import { type Guard, invalidKey } from "../http/guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation, type Parameter } from "../http/openapi.ts";
import { type ProblemCode, type ProblemDetails, problem, rateLimited } from "../http/problem.ts";
import { type Query, readQuery } from "../http/query.ts";
import { parameter } from "../http/reading.ts";
import type { RequestContext } from "../http/request-context.ts";
import { BatchAccepted, EventAccepted } from "../http/schemas.ts";
import { success, successAccepted } from "../http/success.ts";
import type { AcceptedEvent, BatchAnswer, BatchReceipt, Refusal, RejectedEvent } from "../intake/answer.ts";
import type { Intake } from "../intake/intake.ts";
import { EXAMPLE_EVENT, EXAMPLE_LEAF_HASH, EXAMPLE_RECEIVED_AT } from "./log-examples.ts";

export const ingestionRoutes = ({
  guard,
  vocabulary,
  ...dependencies
}: Dependencies & { readonly guard: Guard; readonly vocabulary: EventVocabulary }) =>
  new Elysia({ prefix: "/v1" })
    .post(
      "/events",
      guard(SENDING, (call) => postEvent(dependencies, call)),
      {
        parse: "none",
        detail: describe(singleOperation(vocabulary)),
      },
    )
    .post(
      "/events/batch",
      guard(SENDING, (call) => postBatch(dependencies, call)),
      {
        parse: "none",
        detail: describe(batchOperation(vocabulary)),
      },
    );

interface Dependencies {
  readonly bodies: BodyReader;
  readonly intake: Intake;
  readonly limiter: KeyLimiter;
}

const admitFor = (limiter: KeyLimiter, principal: Principal) => (count: number) =>
  limiter.take(principal, "events", count);

const postEvent = async (
  { bodies, intake, limiter }: Dependencies,
  { request, context, principal, isStillAllowed }: Call,
): Promise<Response> => {
  const header = readIdempotencyKey(request.headers);
  if (header.kind === "invalid") return invalidIdempotencyKey(context);
  // Nearly all requests have no query, so none is parsed for them.
  const { isResent, errors } = request.url.includes("?") ? readSingleQuery(request.url) : NO_QUERY;
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const body = await bodies.read(request, {
    bytesMax: SINGLE_BODY_BYTES_MAX,
    holder: principal.tenant,
    isStillAllowed,
  });
  if (body.kind === "refused") return problem(context, body.code, body);
  try {
    const answer = await intake.acceptOne({
      tenant: principal.tenant,
      requestId: context.requestId,
      body: body.bytes,
      isResent,
      admit: admitFor(limiter, principal),
      isStillAllowed,
      idempotencyKey: header.key,
    });
    return answer.kind === "accepted"
      ? acceptedEvent(context, answer, ["leaf_hash", answer.leafHash])
      : refused(context, answer);
  } finally {
    body.release();
  }
};

const postBatch = async (
  { bodies, intake, limiter }: Dependencies,
  { request, context, principal, isStillAllowed }: Call,
): Promise<Response> => {
  // Each event has its own identity, so a retry of the batch is exactly-once. Only the form of the header is checked.
  if (readIdempotencyKey(request.headers).kind === "invalid") return invalidIdempotencyKey(context);
  const query = readQuery(request.url);
  const wantsReceipts = isAsked(query, "receipts");
  const isResent = isAsked(query, "resent");
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const body = await bodies.read(request, {
    bytesMax: BATCH_BODY_BYTES_MAX,
    holder: principal.tenant,
    isStillAllowed,
  });
  if (body.kind === "refused") return problem(context, body.code, body);
  try {
    const answer = await intake.acceptBatch({
      tenant: principal.tenant,
      requestId: context.requestId,
      body: body.bytes,
      isResent,
      admit: admitFor(limiter, principal),
      isStillAllowed,
      wantsReceipts,
    });
    return answer.kind === "answered" ? acceptedBatch(context, answer) : refused(context, answer);
  } finally {
    body.release();
  }
};

const NO_QUERY = { isResent: false, errors: [] } as const;

const readSingleQuery = (url: string) => {
  const query = readQuery(url);
  return { isResent: isAsked(query, "resent"), errors: query.errors() };
};

const isAsked = (query: Query, name: "receipts" | "resent"): boolean =>
  query.choice(name, ["true", "false"], "false") === "true";

/** A header that is sent twice arrives joined by ", ". Its space is not visible ASCII, so it is refused like other invalid keys. */
const IDEMPOTENCY_KEY = new RegExp(`^[!-~]{1,${IDEMPOTENCY_KEY_CHARACTERS_MAX}}$`);

type IdempotencyKey =
  | { readonly kind: "valid"; readonly key: string | undefined }
  | { readonly kind: "invalid" };

export const readIdempotencyKey = (headers: Headers): IdempotencyKey => {
  const key = headers.get("idempotency-key") ?? undefined;
  return key === undefined || IDEMPOTENCY_KEY.test(key) ? { kind: "valid", key } : { kind: "invalid" };
};

export const invalidIdempotencyKey = (context: RequestContext): Response =>
  problem(context, "invalid_request", {
    errors: [
      {
        path: "header:Idempotency-Key",
        code: "invalid_value",
        message: `Send one Idempotency-Key of 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters, or none.`,
      },
    ],
  });

/**
 * The last parameter is one more member: a name, and a text that needs no escapes in JSON. Written by hand, because every event gets this
 * answer.
 */
export const acceptedEvent = (
  { requestId }: RequestContext,
  { eventId, sequence, receivedAt, duplicate, warnings }: AcceptedEvent,
  [name, value]: readonly [name: string, value: string],
): Response => {
  const warned = warnings.length > 0 ? `,"warnings":${JSON.stringify(warnings)}` : "";
  const dataText = `{"event_id":${JSON.stringify(eventId)},"sequence":${sequence},"received_at":"${receivedAt}","duplicate":${duplicate},"${name}":"${value}"${warned}}`;
  return successAccepted({ requestId, dataText, isReplayed: duplicate });
};

const acceptedBatch = (context: RequestContext, answer: BatchAnswer): Response =>
  success({
    status: 202,
    requestId: context.requestId,
    data: {
      accepted: answer.accepted,
      rejected: answer.rejected.length,
      duplicates: answer.duplicates,
      errors: answer.rejected.map(batchError),
      ...(answer.warnings.length > 0 && { warnings: answer.warnings }),
      ...(answer.sequence !== undefined && { sequence: answer.sequence }),
      ...(answer.receipts && { receipts: answer.receipts.map(batchReceipt) }),
    },
  });

const batchReceipt = ({ index, eventId, sequence, receivedAt, leafHash, duplicate }: BatchReceipt) => ({
  index,
  event_id: eventId,
  sequence,
  received_at: receivedAt,
  leaf_hash: leafHash,
  duplicate,
});

const batchError = ({ index, eventId, code, message, problems, retryable }: RejectedEvent) => ({
  index,
  ...(eventId !== undefined && { event_id: eventId }),
  code,
  message,
  errors: problems,
  ...(retryable && { retryable: true }),
});

export const refused = (context: RequestContext, refusal: Refusal): Response => {
  if (refusal.kind === "limited") return rateLimited(context, refusal);
  if (refusal.kind === "key_ended") return invalidKey(context);
  const [code, details] = refusalProblem(refusal);
  return problem(context, code, details);
};

const refusalProblem = (
  refusal: Exclude<Refusal, { kind: "limited" | "key_ended" }>,
): [ProblemCode, ProblemDetails] => {
  switch (refusal.kind) {
    case "invalid_utf8":
      return ["invalid_utf8", {}];
    case "event_too_large":
      return ["payload_too_large", { detail: `The event is larger than ${EVENT_BYTES_MAX} bytes.` }];
    case "invalid_json":
      return ["invalid_json", { detail: refusal.detail }];
    case "invalid_request": {
      const { problems, problemCount } = refusal;
      const more = problemCount > problems.length ? `; the first ${problems.length} are listed` : "";
      const count = problemCount === 1 ? "one problem" : `${problemCount} problems`;
      return ["invalid_request", { detail: `The request has ${count}${more}.`, errors: problems }];
    }
    case "conflict":
      return [refusal.identity === "event_id" ? "event_id_conflict" : "idempotency_key_reused", {}];
    case "view_behind":
      return ["view_behind", { detail: RESENT_VIEW_BEHIND }];
    case "overloaded":
      return ["overloaded", { detail: refusal.detail }];
    case "unavailable":
      return ["log_unavailable", { detail: refusal.detail }];
  }
};

const RESENT_VIEW_BEHIND =
  "The view did not reach the end of the log in time, so nobody can tell which of these events the log holds already. Nothing was stored: send the same again.";

export const IDEMPOTENCY_KEY_PARAMETER: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Optional. The same key within ten minutes means one event: a repeat is answered from the log, other content with 422. Without this header the event_id is the identity.",
  schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_CHARACTERS_MAX, pattern: "^[!-~]+$" },
};

const RESENT = parameter(
  "resent",
  `Says that the events may have been sent before, however long ago. Each is looked up by its event_id in the whole log, and one that is there is answered as a repeat. That is also true with an Idempotency-Key; send the same key again, because an attempt that is still on its way is known by it. Waits up to ${MIN_SEQUENCE_WAIT_MS_MAX / 1000} s for the view; where that does not come so far, 503 \`view_behind\` and nothing is stored.`,
  { type: "boolean", default: false },
);

const singleOperation = (vocabulary: EventVocabulary): Operation => ({
  id: "sendEvent",
  tag: "Ingestion",
  summary: "Send one event",
  description:
    "Answers after the event is stored and synced to disk. Sending the same event again is safe: it is stored once, and the answer has `duplicate: true` and the header `Idempotency-Replayed: true`.",
  access: SENDING,
  parameters: [IDEMPOTENCY_KEY_PARAMETER, RESENT],
  body: {
    schema: auditEventSchema(vocabulary),
    example: EXAMPLE_EVENT,
    bytesMax: SINGLE_BODY_BYTES_MAX,
  },
  answer: {
    status: 202,
    description: "The event is in the log.",
    isReplayed: true,
    schema: EventAccepted,
    example: {
      data: {
        event_id: "evt_sample_001",
        sequence: 1,
        received_at: EXAMPLE_RECEIVED_AT,
        duplicate: false,
        leaf_hash: EXAMPLE_LEAF_HASH,
      },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: [
    "event_id_conflict",
    "idempotency_key_reused",
    "log_behind",
    "log_unavailable",
    "overloaded",
    "view_behind",
  ],
});

const batchOperation = (vocabulary: EventVocabulary): Operation => ({
  id: "sendBatch",
  tag: "Ingestion",
  summary: `Send up to ${BATCH_EVENTS_MAX} events`,
  description:
    "Each event has its own outcome: an invalid one does not affect the others. `accepted + rejected` is the number of events sent. Send again the events that are marked `retryable`; sending the whole batch again is safe too.",
  access: SENDING,
  parameters: [
    {
      ...IDEMPOTENCY_KEY_PARAMETER,
      description: "Allowed but not needed: each event has its own identity.",
    },
    parameter("receipts", "Name sequence and leaf hash of every accepted event in `receipts`.", {
      type: "boolean",
      default: false,
    }),
    RESENT,
  ],
  body: {
    schema: Type.Object({ events: Type.Array(auditEventSchema(vocabulary), { maxItems: BATCH_EVENTS_MAX }) }),
    example: { events: [EXAMPLE_EVENT] },
    bytesMax: BATCH_BODY_BYTES_MAX,
  },
  answer: {
    status: 202,
    description: "What became of each event.",
    schema: BatchAccepted,
    example: {
      data: {
        accepted: 1,
        rejected: 1,
        duplicates: 0,
        errors: [
          {
            index: 1,
            code: "invalid_event",
            message: "The event has one problem; see errors.",
            errors: [
              {
                path: "/event_type",
                code: "unknown_event_type",
                message: 'event_type is not a known type: did you mean "incident.detected"?',
              },
            ],
          },
        ],
        sequence: 2,
      },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: ["log_behind", "log_unavailable", "overloaded", "view_behind"],
});
