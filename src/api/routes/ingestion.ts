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
import { isAsked, type Parameter } from "../http/parameters.ts";
import { limitedRate } from "../http/problem.ts";
import { holderOfRequest } from "../http/request-context.ts";
import type { OpenCall, Route } from "../http/route.ts";
import { bool, FieldProblem, Sequence, str, Time, Warning, Warnings, wordsOf } from "../http/schemas.ts";
import { answerBatch } from "../intake/answer.ts";
import { decodeUtf8 } from "../intake/json/slice.ts";
import {
  type Refusal as IntakeRefusal,
  type JudgedRequest,
  REJECTION_CODES,
  type Receipt,
  type Settled,
} from "../intake/judge.ts";
import { EXAMPLE_EVENT, EXAMPLE_LEAF_HASH, EXAMPLE_RECEIVED_AT } from "./log-examples.ts";

const SEND = { tag: "Ingestion", access: SENDING } as const;
const BOOLEAN = { type: "boolean", default: false };
const RESENT = isAsked(
  "resent",
  `Says that the events may have been sent before, however long ago. Each is looked up by its event_id in the whole log, and one found there is answered as a repeat, also with an Idempotency-Key; send the same key again, because it identifies an attempt still in flight. Waits up to ${MIN_SEQUENCE_WAIT_MS_MAX / 1000} s for the view; if it does not get there, 503 \`view_behind\` and nothing is stored.`,
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
        "Answers after the event is stored and synced to disk. Retrying is safe: it is stored once, and the answer has `duplicate: true` and the header `Idempotency-Replayed: true`.",
      headers: [
        idempotencyKey(
          "Optional. The same key within ten minutes means one event: a repeat is answered from the log, different content with 422. Without this header the event_id is the identity.",
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
      answer: async (call) => {
        const body = await readText(bodies, call, SINGLE_BODY_BYTES_MAX);
        if (isRefusal(body)) return body;
        try {
          const { tenant } = call.principal;
          const { requestId } = call.context;
          const judged = intake.judgeOne({ tenant, requestId, text: body.text }, body.idempotencyKey);
          if (judged.kind !== "judged") return refusedIntake(judged);
          const admitted = await admit(dependencies, call, judged, call.asked.isResent);
          if (isRefusal(admitted)) return admitted;
          const settled = await intake.append(judged, { wantsReceipts: true, ...admitted });
          return answerOne(judged, settled, ({ leaf_hash }) => ["leaf_hash", leaf_hash]);
        } finally {
          body.release();
        }
      },
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
        "Each event has its own outcome: an invalid one does not affect the others. `accepted + rejected` is the number of events sent. Resend the events marked `retryable`; resending the whole batch is safe too.",
      headers: [idempotencyKey("Allowed but not needed: each event has its own identity.")],
      query: {
        wantsReceipts: isAsked(
          "receipts",
          "Return sequence and leaf hash of every accepted event in `receipts`.",
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
      answer: async (call) => {
        const body = await readText(bodies, call, BATCH_BODY_BYTES_MAX);
        if (isRefusal(body)) return body;
        try {
          const { tenant } = call.principal;
          const { wantsReceipts, isResent } = call.asked;
          const { requestId } = call.context;
          const judged = await intake.judgeBatch({ tenant, requestId, text: body.text });
          if (judged.kind !== "judged") return refusedIntake(judged);
          const admitted = await admit(dependencies, call, judged, isResent);
          if (isRefusal(admitted)) return admitted;
          const settled = await intake.append(judged, { wantsReceipts, ...admitted });
          const answer = answerBatch(judged, settled, wantsReceipts);
          return answer.kind === "answered"
            ? give(answer.data, { "cache-control": "no-store" })
            : refusedIntake(answer);
        } finally {
          body.release();
        }
      },
    }),
  ];
};

/** Between judging and appending: the event rate, what the log already holds, and the key, which may have ended meanwhile. */
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

interface BodyText {
  readonly text: string;
  readonly idempotencyKey: string | undefined;
  /** Call it once the answer is known: until then the body counts as held. */
  readonly release: () => void;
}

/** The text of the body, stored as is. Its bytes are freed once they are text. */
export const readText = async (
  bodies: BodyReader,
  { request, context }: OpenCall,
  bytesMax: number,
): Promise<BodyText | Refusal> => {
  const idempotencyKey = request.headers.get("idempotency-key") ?? undefined;
  if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) return INVALID_IDEMPOTENCY_KEY;
  const body = await bodies.read(request, { bytesMax, holder: holderOfRequest(context) });
  if (body.kind === "refused") return refuse(body.code, body);
  const { release } = body;
  const text = decodeUtf8(body.bytes);
  if (text !== undefined) return { text, idempotencyKey, release };
  release();
  return refuse("invalid_utf8");
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
    description: "The same event was stored before, and this is the answer from then. Absent for a new one.",
  },
};

/** `more`: one more member: a name, and a text that needs no escapes in JSON. Written by hand, because every event gets this answer. */
export const answerOne = (
  { events: [event] }: JudgedRequest,
  [settled]: readonly Settled[],
  more: (receipt: Receipt) => readonly [name: string, value: string],
): Answer => {
  if (!(event && settled)) throw new Error("each event is settled");
  if (settled.kind !== "stored") return refusedIntake(settled);
  const { receipt } = settled;
  const { event_id, sequence, received_at, duplicate } = receipt;
  const [name, value] = more(receipt);
  const warned = event.warnings.length > 0 ? `,"warnings":${JSON.stringify(event.warnings)}` : "";
  return {
    ...giveText(
      `{"event_id":${JSON.stringify(event_id)},"sequence":${sequence},"received_at":"${received_at}","duplicate":${duplicate},"${name}":"${value}"${warned}}`,
    ),
    ...(duplicate && { headers: { "idempotency-replayed": "true" } }),
  };
};

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
  "The view did not reach the end of the log in time, so it is unknown which of these events the log already holds. Nothing was stored: retry.";

const BatchWarnings = Type.Optional(
  Type.Array(
    Type.Object({
      index: Type.Optional(Type.Integer({ minimum: 0, description: "The first event it is about." })),
      ...Warning.properties,
      count: Type.Optional(Type.Integer({ minimum: 1, description: "Number of events it is about." })),
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
        "One for each `path` and `code`. Without an `index` it is about the body outside the events. If there are more, the last one says how many.",
    },
  ),
);

const LeafHash = str(
  "Base64. The record's leaf in the tenant's tree: `GET /v1/events/{event_id}/proof?sequence=`, with the `sequence` beside it, proves this hash (RFC 6962).",
);

export const eventAccepted = Type.Object({
  event_id: Type.String(),
  sequence: Sequence,
  received_at: Time,
  duplicate: bool("True when the same event was stored before; the answer is the original one."),
  leaf_hash: LeafHash,
  warnings: Warnings,
});

export const batchAccepted = Type.Object({
  accepted: Type.Integer({ minimum: 0, description: "Events in the log, including those sent before." }),
  rejected: Type.Integer({ minimum: 0 }),
  duplicates: Type.Integer({ minimum: 0, description: "Accepted events that were stored before." }),
  errors: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, description: "Place of the event in `events`, from 0." }),
      event_id: Type.Optional(Type.String()),
      code: wordsOf(REJECTION_CODES),
      message: Type.String(),
      errors: Type.Array(FieldProblem, {
        description: `At most ${PROBLEMS_PER_EVENT_MAX}. In a batch with more than ${PROBLEMS_PER_BATCH_MAX} beside the first of each event, later events list only their first; \`message\` counts them.`,
      }),
      retryable: Type.Optional(Type.Literal(true, { description: "Retrying may succeed." })),
    }),
    { maxItems: BATCH_EVENTS_MAX },
  ),
  warnings: BatchWarnings,
  receipts: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, description: "Place of the event in `events`, from 0." }),
        ...Type.Omit(eventAccepted, ["warnings"]).properties,
      }),
      { maxItems: BATCH_EVENTS_MAX },
    ),
  ),
  sequence: Type.Optional(Sequence),
});
