/** Schemas of answers, declared once: the OpenAPI document shows them, and tests check real answers against them. */
import { type TSchema, Type } from "@sinclair/typebox";
import { KeyView, NewKeyView } from "../../access/key-record.ts";
import { WARNING_CODES } from "../../event/warnings.ts";
import { Classification, ClassificationRequest } from "../../law/classification/request.ts";
import {
  BATCH_EVENTS_MAX,
  PROBLEMS_PER_BATCH_MAX,
  PROBLEMS_PER_EVENT_MAX,
  WARNING_INDEXES_MAX,
  WARNINGS_MAX,
} from "../../limits.ts";
import { REJECTION_CODES } from "../intake/answer.ts";
import { WATERMARK, WATERMARK_MEMBER } from "../sandbox/watermark.ts";
import { PROBLEM_CODES, PROBLEMS } from "./problem.ts";

const RequestId = Type.String({
  format: "uuid",
  description: "UUIDv7 of the request; also in the X-Request-Id header.",
});
const Sequence = Type.Integer({
  minimum: 1,
  description: "Position in the log. Use it as `min_sequence` to read your own write.",
});
const Time = Type.String({ format: "date-time" });

export const dataOf = (data: TSchema) => Type.Object({ data, request_id: RequestId });
const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: "Send it as `cursor`; null at the end.",
});
const CountSchema = Type.Object(
  {
    value: Type.Integer({ minimum: 0 }),
    exact: Type.Boolean({ description: "False: at least so many." }),
  },
  { description: "With `count=true`: how many rows match." },
);
export const listOf = (row: TSchema) =>
  Type.Object({
    data: Type.Array(row),
    next_cursor: NextCursor,
    count: Type.Optional(CountSchema),
    request_id: RequestId,
  });

const FieldProblem = Type.Object({
  path: Type.String({ description: "JSON Pointer into the event or body, or `query:name`, `header:name`." }),
  code: Type.String(),
  message: Type.String(),
});

const Warning = Type.Object({
  path: Type.String({ description: "JSON Pointer into the event." }),
  code: Type.Union(WARNING_CODES.map((code) => Type.Literal(code))),
  message: Type.String(),
});
const Warnings = Type.Optional(
  Type.Array(Warning, {
    maxItems: WARNINGS_MAX,
    description:
      "What was kept as sent and was probably not intended. Absent when there is nothing. Where there is more, the last one says how much.",
  }),
);
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

export const EventAccepted = dataOf(
  Type.Object({
    event_id: Type.String(),
    sequence: Sequence,
    received_at: Time,
    duplicate: Type.Boolean({
      description: "True when the same event was stored before; the answer is that of the first time.",
    }),
    leaf_hash: LeafHash,
    warnings: Warnings,
  }),
);

export const BatchAccepted = dataOf(
  Type.Object({
    accepted: Type.Integer({ minimum: 0, description: "Events in the log, those sent before included." }),
    rejected: Type.Integer({ minimum: 0 }),
    duplicates: Type.Integer({ minimum: 0, description: "Accepted events that were stored before." }),
    errors: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, description: "Place of the event in `events`, from 0." }),
        event_id: Type.Optional(Type.String()),
        code: Type.Union(REJECTION_CODES.map((code) => Type.Literal(code))),
        message: Type.String(),
        errors: Type.Array(FieldProblem, {
          description: `At most ${PROBLEMS_PER_EVENT_MAX}. Of a batch with more than ${PROBLEMS_PER_BATCH_MAX} beside the first of each event, later events have their first one alone; \`message\` counts them.`,
        }),
        retryable: Type.Optional(
          Type.Literal(true, { description: "Sending the same event again can help." }),
        ),
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
  }),
);

const Stored = Type.Object({
  sequence: Sequence,
  tenant: Type.String(),
  received_at: Time,
  event: Type.Record(Type.String(), Type.Unknown(), {
    description: "The event as it was sent, byte for byte.",
  }),
});

export const StoredEventAnswer = dataOf(Type.Object({ ...Stored.properties, warnings: Warnings }));
export const StoredEventList = listOf(Stored);

export const KeyAnswer = dataOf(KeyView);
export const NewKeyAnswer = dataOf(NewKeyView);
export const RotatedKeyAnswer = dataOf(Type.Object({ ...NewKeyView.properties, previous: KeyView }));
export const KeyList = listOf(KeyView);

export const HealthLive = dataOf(Type.Object({ status: Type.Literal("live") }));
export const HealthReady = dataOf(
  Type.Object({
    status: Type.Literal("ready"),
    warnings: Type.Array(Type.Object({ id: Type.String(), detail: Type.String() })),
  }),
);

export const ProblemBody = Type.Object(
  {
    type: Type.String({ description: "`urn:prooftrail:problem:` and the code." }),
    title: Type.String(),
    status: Type.Union(
      [...new Set(PROBLEM_CODES.map((code) => PROBLEMS[code].status))].map((status) => Type.Literal(status)),
    ),
    detail: Type.String(),
    code: Type.Union(PROBLEM_CODES.map((code) => Type.Literal(code))),
    request_id: RequestId,
    errors: Type.Optional(Type.Array(FieldProblem)),
    reasons: Type.Optional(Type.Array(Type.String(), { description: "Only with `not_ready`." })),
    reason_ids: Type.Optional(
      Type.Array(Type.String(), {
        description: "Only with `not_ready`, of `/health/ready`: ids of the reasons.",
      }),
    ),
    sequence: Type.Optional(
      Type.Integer({ description: "Only with `event_expired`: where the record stands." }),
    ),
    expired_at: Type.Optional(
      Type.String({ format: "date-time", description: "Only with `event_expired`." }),
    ),
  },
  { description: "RFC 9457 problem details." },
);

const Watermark = Type.Literal(WATERMARK, {
  description: "On every answer of the sandbox, errors included.",
});

export const SandboxProblemBody = Type.Object(
  { ...ProblemBody.properties, [WATERMARK_MEMBER]: Watermark },
  { description: "RFC 9457 problem details." },
);

export const sandboxOf = (data: TSchema) =>
  Type.Object({ data, request_id: RequestId, [WATERMARK_MEMBER]: Watermark });
const sandboxListOf = (row: TSchema) =>
  Type.Object({
    data: Type.Array(row),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: "Always null: there is no next page.",
    }),
    request_id: RequestId,
    [WATERMARK_MEMBER]: Watermark,
  });

export const SandboxPong = sandboxOf(
  Type.Object({ status: Type.Literal("ok"), environment: Type.Literal("sandbox") }),
);
export const SandboxAssets = sandboxListOf(
  Type.Object({
    asset_id: Type.String(),
    name: Type.String(),
    intended_purpose: Type.String(),
    affected_person: Type.String(),
    oversight: Type.String(),
    model: Type.String(),
    asset_version: Type.String(),
    operator_role: Type.String(),
    retention: Type.String(),
    profile: ClassificationRequest,
    risk_tier: Type.String(),
    legal_bases: Type.Array(Type.String()),
  }),
);
export const Classified = sandboxOf(Classification);
export const ClassifiedWithKey = dataOf(Classification);
export const SandboxAccepted = sandboxOf(
  Type.Object({
    event_id: Type.String(),
    sequence: Type.Integer({ minimum: 1, description: "Position in the sandbox, which is not the log." }),
    received_at: Time,
    expires_at: Time,
    duplicate: Type.Boolean(),
    warnings: Warnings,
  }),
);
export const SandboxEvents = sandboxListOf(
  Type.Object({
    sequence: Type.Integer({ minimum: 1 }),
    received_at: Time,
    expires_at: Time,
    event: Type.Record(Type.String(), Type.Unknown(), { description: "As it was sent." }),
  }),
);
