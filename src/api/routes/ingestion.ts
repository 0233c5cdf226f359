import { Type } from "@sinclair/typebox";
import type { RateDecision } from "../../access/rate-limit.ts";
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
import type { Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { KEY_ENDED } from "../http/guard.ts";
import { isAsked, type Parameter } from "../http/parameters.ts";
import { limitedRate } from "../http/problem.ts";
import type { Route } from "../http/route.ts";
import { bool, FieldProblem, Sequence, str, Time, Warning, Warnings, wordsOf } from "../http/schemas.ts";
import { answerBatch } from "../intake/answer.ts";
import { type Refusal as IntakeRefusal, type JudgedRequest, REJECTION_CODES } from "../intake/intake.ts";
import type { Receipt, Settled } from "../intake/replay.ts";
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
        const key = idempotencyKeyOf(call.request);
        if (isRefusal(key)) return key;
        const { tenant } = call.principal;
        const body = await bodies.read(call.request, { bytesMax: SINGLE_BODY_BYTES_MAX, holder: tenant });
        if (body.kind === "refused") return body;
        try {
          const { requestId } = call.context;
          const judged = intake.judgeOne({ tenant, requestId, text: body.text }, key);
          if (judged.kind !== "judged") return refusedIntake(judged);
          const admission = admit(dependencies, call, judged, call.asked.isResent);
          const admitted = admission instanceof Promise ? await admission : admission;
          if (isRefusal(admitted)) return admitted;
          const settled = await intake.append(judged, { wantsReceipts: true, earlier: admitted.earlier });
          return answerOne(judged, settled, leafHash);
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
        const key = idempotencyKeyOf(call.request);
        if (isRefusal(key)) return key;
        const { tenant } = call.principal;
        const body = await bodies.read(call.request, { bytesMax: BATCH_BODY_BYTES_MAX, holder: tenant });
        if (body.kind === "refused") return body;
        try {
          const { wantsReceipts, isResent } = call.asked;
          const { requestId } = call.context;
          const judged = await intake.judgeBatch({ tenant, requestId, text: body.text });
          if (judged.kind !== "judged") return refusedIntake(judged);
          const admitted = await admit(dependencies, call, judged, isResent);
          if (isRefusal(admitted)) return admitted;
          const settled = await intake.append(judged, { wantsReceipts, earlier: admitted.earlier });
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

type Admitted = { readonly earlier?: ReadonlyMap<string, number> };

/** Between judging and appending: the event rate, what the log already holds, and the key, which may have ended meanwhile. Mostly it need not wait. */
const admit = (
  dependencies: Dependencies,
  call: Call,
  judged: JudgedRequest,
  isResent: boolean,
): Admitted | Refusal | Promise<Admitted | Refusal> => {
  const count = judged.events.length + judged.rejected.length;
  const rate = dependencies.limiter.take(call.principal, "events", count);
  if (rate instanceof Promise || isResent) return admitLater(dependencies, call, judged, { rate, isResent });
  return refusedRate(rate, call) ?? (call.isStillAllowed() ? NOTHING_EARLIER : KEY_ENDED);
};

const admitLater = async (
  { intake }: Dependencies,
  call: Call,
  judged: JudgedRequest,
  { rate, isResent }: { readonly rate: RateDecision | Promise<RateDecision>; readonly isResent: boolean },
): Promise<Admitted | Refusal> => {
  const refused = refusedRate(await rate, call);
  if (refused) return refused;
  const found = isResent ? await intake.findEarlier(judged) : undefined;
  if (!call.isStillAllowed()) return KEY_ENDED;
  if (found === undefined) return NOTHING_EARLIER;
  return found.kind === "found" ? { earlier: found.sequences } : refusedIntake(found);
};

const NOTHING_EARLIER: Admitted = {};

const refusedRate = (rate: RateDecision, { principal }: Call): Refusal | undefined =>
  rate.kind === "limited" ? refuse("rate_limited", limitedRate(rate, principal.keyId)) : undefined;

export const idempotencyKeyOf = ({ headers }: Request): string | undefined | Refusal => {
  const sent = headers.get("idempotency-key") ?? undefined;
  return sent === undefined || IDEMPOTENCY_KEY.test(sent) ? sent : INVALID_IDEMPOTENCY_KEY;
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

/** `more`: one more member, as JSON. Written by hand, because every event gets this answer. */
export const answerOne = (
  { events: [event] }: JudgedRequest,
  [settled]: readonly Settled[],
  more: (receipt: Receipt) => string,
): Answer => {
  if (!(event && settled)) throw new Error("each event is settled");
  if (settled.kind !== "stored") return refusedIntake(settled);
  const { receipt } = settled;
  const { event_id, sequence, received_at, duplicate } = receipt;
  const warned = event.warnings.length > 0 ? `,"warnings":${JSON.stringify(event.warnings)}` : "";
  return giveText(
    `{"event_id":${JSON.stringify(event_id)},"sequence":${sequence},"received_at":"${received_at}","duplicate":${duplicate},${more(receipt)}${warned}}`,
    duplicate ? IS_REPLAYED : undefined,
  );
};

const IS_REPLAYED = { "idempotency-replayed": "true" };
const leafHash = ({ leaf_hash }: Receipt): string => `"leaf_hash":"${leaf_hash}"`;

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
