import { Type } from "@sinclair/typebox";
import { auditEventSchema } from "../../event/audit-event.ts";
import {
  BATCH_BODY_BYTES_MAX,
  BATCH_EVENTS_MAX,
  EVENT_BYTES_MAX,
  IDEMPOTENCY_KEY_CHARACTERS_MAX,
  MIN_SEQUENCE_WAIT_MS_MAX,
  PROBLEMS_PER_BATCH_MAX,
  PROBLEMS_PER_EVENT_MAX,
  SINGLE_BODY_BYTES_MAX,
  WARNING_INDEXES_MAX,
  WARNINGS_MAX,
} from "../../limits.ts";
import { SENDING } from "../http/access.ts";
import { type Answer, give, giveText, invalid, isRefusal, type Refusal, refuse } from "../http/answers.ts";
import type { BodyReader } from "../http/body.ts";
import type { Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { KEY_ENDED } from "../http/guard.ts";
import { holderOfRequest } from "../http/holder.ts";
import { isAsked, type Parameter } from "../http/parameters.ts";
import { limitedRate } from "../http/problem.ts";
import type { OpenCall, Route } from "../http/route.ts";
import { FieldProblem, Sequence, Time, Warning, Warnings, wordsOf } from "../http/schemas.ts";
import type { AcceptedEvent, BatchAnswer, BatchReceipt, Refusal as IntakeRefusal } from "../intake/answer.ts";
import { type JudgedRequest, REJECTION_CODES, type RejectedEvent } from "../intake/judged.ts";
import { decodeUtf8 } from "../intake/utf8.ts";
import { EXAMPLE_EVENT, EXAMPLE_LEAF_HASH, EXAMPLE_RECEIVED_AT } from "./log-examples.ts";

const SEND = { tag: "Ingestion", access: SENDING } as const;
const BOOLEAN = { type: "boolean", default: false };
const RESENT = isAsked(
  "resent",
  `Says that the events may have been sent before, however long ago. Each is looked up by its event_id in the whole log, and one that is there is answered as a repeat. That is also true with an Idempotency-Key; send the same key again, because an attempt that is still on its way is known by it. Waits up to ${MIN_SEQUENCE_WAIT_MS_MAX / 1000} s for the view; where that does not come so far, 503 \`view_behind\` and nothing is stored.`,
  BOOLEAN,
);

export const ingestionRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, vocabulary, bodies, intake } = dependencies;
  return [
    route({
      ...SEND,
      on: "POST /v1/events",
      id: "sendEvent",
      summary: "Send one event",
      description:
        "Answers after the event is stored and synced to disk. Sending the same event again is safe: it is stored once, and the answer has `duplicate: true` and the header `Idempotency-Replayed: true`.",
      headers: [
        idempotencyKey(
          "Optional. The same key within ten minutes means one event: a repeat is answered from the log, other content with 422. Without this header the event_id is the identity.",
        ),
      ],
      query: { isResent: RESENT },
      body: { schema: auditEventSchema(vocabulary), example: EXAMPLE_EVENT, bytesMax: SINGLE_BODY_BYTES_MAX },
      status: 202,
      sends: REPLAYED,
      gives: eventAccepted,
      example: {
        event_id: "evt_sample_001",
        sequence: 1,
        received_at: EXAMPLE_RECEIVED_AT,
        duplicate: false,
        leaf_hash: EXAMPLE_LEAF_HASH,
      },
      problems: [
        "event_id_conflict",
        "idempotency_key_reused",
        "log_unavailable",
        "overloaded",
        "view_behind",
      ],
      answer: (call) =>
        withBody(bodies, call, SINGLE_BODY_BYTES_MAX, async (text, idempotencyKey) => {
          const { tenant } = call.principal;
          const judged = intake.judgeOne({ tenant, requestId: call.context.requestId, text }, idempotencyKey);
          if (judged.kind !== "judged") return refusedIntake(judged);
          const admitted = await admit(dependencies, call, judged, call.asked.isResent);
          if (isRefusal(admitted)) return admitted;
          const answer = await intake.appendOne(judged, admitted.earlier);
          return answer.kind === "accepted"
            ? acceptedEvent(answer, ["leaf_hash", answer.leafHash])
            : refusedIntake(answer);
        }),
    }),
  ];
};

export const batchRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, vocabulary, bodies, intake } = dependencies;
  return [
    route({
      ...SEND,
      on: "POST /v1/events/batch",
      id: "sendBatch",
      summary: `Send up to ${BATCH_EVENTS_MAX} events`,
      description:
        "Each event has its own outcome: an invalid one does not affect the others. `accepted + rejected` is the number of events sent. Send again the events that are marked `retryable`; sending the whole batch again is safe too.",
      headers: [idempotencyKey("Allowed but not needed: each event has its own identity.")],
      query: {
        wantsReceipts: isAsked(
          "receipts",
          "Name sequence and leaf hash of every accepted event in `receipts`.",
          BOOLEAN,
        ),
        isResent: RESENT,
      },
      body: {
        schema: Type.Object({
          events: Type.Array(auditEventSchema(vocabulary), { maxItems: BATCH_EVENTS_MAX }),
        }),
        example: { events: [EXAMPLE_EVENT] },
        bytesMax: BATCH_BODY_BYTES_MAX,
      },
      status: 202,
      gives: batchAccepted,
      problems: ["log_unavailable", "overloaded", "view_behind"],
      answer: (call) =>
        withBody(bodies, call, BATCH_BODY_BYTES_MAX, async (text) => {
          const { tenant } = call.principal;
          const { wantsReceipts, isResent } = call.asked;
          const judged = await intake.judgeBatch({ tenant, requestId: call.context.requestId, text });
          if (judged.kind !== "judged") return refusedIntake(judged);
          const admitted = await admit(dependencies, call, judged, isResent);
          if (isRefusal(admitted)) return admitted;
          const answer = await intake.appendBatch(judged, { wantsReceipts, ...admitted });
          return answer.kind === "answered"
            ? give(batchData(answer), { "cache-control": "no-store" })
            : refusedIntake(answer);
        }),
    }),
  ];
};

/** Between judging and appending: the rate of events, what the log already holds, and the key, which may have ended meanwhile. */
const admit = async (
  { intake, limiter }: Dependencies,
  { principal, isStillAllowed }: Call,
  judged: JudgedRequest,
  isResent: boolean,
): Promise<{ readonly earlier?: ReadonlyMap<string, number> } | Refusal> => {
  const rate = await limiter.take(principal, "events", judged.events.length + judged.rejected.length);
  if (rate.kind === "limited") return refuse("rate_limited", limitedRate(rate, principal.keyId));
  const found = isResent ? await intake.findEarlier(judged) : undefined;
  if (!isStillAllowed()) return KEY_ENDED;
  if (found === undefined) return {};
  return found.kind === "found" ? { earlier: found.sequences } : refusedIntake(found);
};

/** Reads the bytes, whose text is stored as it is, and counts them until the answer is known. */
export const withBody = async (
  bodies: BodyReader,
  { request, context }: OpenCall,
  bytesMax: number,
  accept: (text: string, idempotencyKey: string | undefined) => Promise<Answer>,
): Promise<Answer> => {
  const key = request.headers.get("idempotency-key") ?? undefined;
  if (key !== undefined && !IDEMPOTENCY_KEY.test(key)) return INVALID_IDEMPOTENCY_KEY;
  const holder = holderOfRequest(context);
  const body = await bodies.read(request, { bytesMax, holder });
  if (body.kind === "refused") return refuse(body.code, body);
  // Nothing below names the bytes, so they are free once they are text.
  const { bytes, release } = body;
  try {
    const text = decodeUtf8(bytes);
    return text === undefined ? refuse("invalid_utf8") : await accept(text, key);
  } finally {
    release();
  }
};

/** A header that is sent twice arrives joined by ", ". Its space is not visible ASCII, so it is refused like other invalid keys. */
const IDEMPOTENCY_KEY = new RegExp(`^[!-~]{1,${IDEMPOTENCY_KEY_CHARACTERS_MAX}}$`);

const INVALID_IDEMPOTENCY_KEY = invalid([
  {
    path: "header:Idempotency-Key",
    code: "invalid_value",
    message: `Send one Idempotency-Key of 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters, or none.`,
  },
]);

export const idempotencyKey = (description: string): Parameter => ({
  name: "Idempotency-Key",
  in: "header",
  description,
  schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_CHARACTERS_MAX, pattern: "^[!-~]+$" },
});

export const REPLAYED = {
  "Idempotency-Replayed": {
    schema: { type: "string", enum: ["true"] },
    description:
      "The same event was stored before, and this is what was answered then. Absent for a new one.",
  },
};

/**
 * The last parameter is one more member: a name, and a text that needs no escapes in JSON. Written by hand, because every event gets this
 * answer.
 */
export const acceptedEvent = (
  { eventId, sequence, receivedAt, duplicate, warnings }: AcceptedEvent,
  [name, value]: readonly [name: string, value: string],
): Answer => {
  const warned = warnings.length > 0 ? `,"warnings":${JSON.stringify(warnings)}` : "";
  return {
    ...giveText(
      `{"event_id":${JSON.stringify(eventId)},"sequence":${sequence},"received_at":"${receivedAt}","duplicate":${duplicate},"${name}":"${value}"${warned}}`,
    ),
    ...(duplicate && { headers: { "idempotency-replayed": "true" } }),
  };
};

const batchData = (answer: BatchAnswer) => ({
  accepted: answer.accepted,
  rejected: answer.rejected.length,
  duplicates: answer.duplicates,
  errors: answer.rejected.map(batchError),
  ...(answer.warnings.length > 0 && { warnings: answer.warnings }),
  ...(answer.sequence !== undefined && { sequence: answer.sequence }),
  ...(answer.receipts && { receipts: answer.receipts.map(batchReceipt) }),
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

export const refusedIntake = (refusal: IntakeRefusal): Refusal => {
  switch (refusal.kind) {
    case "event_too_large":
      return refuse("payload_too_large", `The event is larger than ${EVENT_BYTES_MAX} bytes.`);
    case "invalid_json":
      return refuse("invalid_json", refusal.detail);
    case "invalid_request": {
      const { problems, problemCount } = refusal;
      const more = problemCount > problems.length ? `; the first ${problems.length} are listed` : "";
      const count = problemCount === 1 ? "one problem" : `${problemCount} problems`;
      return refuse("invalid_request", { detail: `The request has ${count}${more}.`, errors: problems });
    }
    case "conflict":
      return refuse(refusal.identity === "event_id" ? "event_id_conflict" : "idempotency_key_reused");
    case "view_behind":
      return refuse("view_behind", RESENT_VIEW_BEHIND);
    case "overloaded":
      return refuse("overloaded", refusal.detail);
    case "unavailable":
      return refuse("log_unavailable", refusal.detail);
  }
};

const RESENT_VIEW_BEHIND =
  "The view did not reach the end of the log in time, so nobody can tell which of these events the log holds already. Nothing was stored: send the same again.";

const BatchWarnings = Type.Optional(
  Type.Array(
    Type.Object({
      index: Type.Optional(Type.Integer({ minimum: 0, description: "The first event that it is about." })),
      ...Warning.properties,
      count: Type.Optional(Type.Integer({ minimum: 1, description: "How many events it is about." })),
      indexes: Type.Optional(
        Type.Array(Type.Integer({ minimum: 0 }), {
          maxItems: WARNING_INDEXES_MAX,
          description: "Places of the first of them.",
        }),
      ),
    }),
    {
      maxItems: WARNINGS_MAX,
      description:
        "One for each `path` and `code`. Without an `index` it is about the body beside the events. Where there are more, the last one says how many.",
    },
  ),
);

const LeafHash = Type.String({
  description:
    "Base64. What the record's leaf in the tenant's tree is: `GET /v1/events/{event_id}/proof?sequence=`, with the `sequence` beside it, proves this very hash (RFC 6962).",
});

export const eventAccepted = Type.Object({
  event_id: Type.String(),
  sequence: Sequence,
  received_at: Time,
  duplicate: Type.Boolean({
    description: "True when the same event was stored before; the answer is that of the first time.",
  }),
  leaf_hash: LeafHash,
  warnings: Warnings,
});

export const batchAccepted = Type.Object({
  accepted: Type.Integer({ minimum: 0, description: "Events in the log, those sent before included." }),
  rejected: Type.Integer({ minimum: 0 }),
  duplicates: Type.Integer({ minimum: 0, description: "Accepted events that were stored before." }),
  errors: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, description: "Place of the event in `events`, from 0." }),
      event_id: Type.Optional(Type.String()),
      code: wordsOf(REJECTION_CODES),
      message: Type.String(),
      errors: Type.Array(FieldProblem, {
        description: `At most ${PROBLEMS_PER_EVENT_MAX}. Of a batch with more than ${PROBLEMS_PER_BATCH_MAX} beside the first of each event, later events have their first one alone; \`message\` counts them.`,
      }),
      retryable: Type.Optional(Type.Literal(true, { description: "Sending the same event again can help." })),
    }),
    { maxItems: BATCH_EVENTS_MAX },
  ),
  warnings: BatchWarnings,
  receipts: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, description: "Place of the event in `events`, from 0." }),
        event_id: Type.String(),
        sequence: Sequence,
        received_at: Time,
        leaf_hash: LeafHash,
        duplicate: Type.Boolean(),
      }),
      { maxItems: BATCH_EVENTS_MAX },
    ),
  ),
  sequence: Type.Optional(Sequence),
});
