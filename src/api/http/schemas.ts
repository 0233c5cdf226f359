import { type TSchema, Type } from "@sinclair/typebox";
import { WARNING_CODES } from "../../event/warnings.ts";
import { WARNINGS_MAX } from "../../limits.ts";
import { WATERMARK, WATERMARK_MEMBER } from "../sandbox/watermark.ts";
import { PROBLEM_CODES, PROBLEMS } from "./problem.ts";

export const RequestId = Type.String({
  format: "uuid",
  description: "UUIDv7 of the request; also in the X-Request-Id header.",
});
export const Sequence = Type.Integer({
  minimum: 1,
  description: "Position in the log. Use it as `min_sequence` to read your own write.",
});
export const Time = Type.String({ format: "date-time" });

/** Members of an answer, described. */
export const str = (description: string) => Type.String({ description });
export const int = (description: string) => Type.Integer({ description });
export const bool = (description: string) => Type.Boolean({ description });
export const time = (description: string) => Type.String({ format: "date-time", description });

export const nullable = (schema: TSchema, options: { readonly description?: string } = {}) =>
  Type.Union([schema, Type.Null()], options);

export const wordsOf = (words: readonly string[], options: { readonly description?: string } = {}) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    options,
  );

export const FieldProblem = Type.Object({
  path: Type.String({ description: "JSON Pointer into the event or body, or `query:name`, `header:name`." }),
  code: Type.String(),
  message: Type.String(),
});

export const Warning = Type.Object({
  path: Type.String({ description: "JSON Pointer into the event." }),
  code: wordsOf(WARNING_CODES),
  message: Type.String(),
});
export const Warnings = Type.Optional(
  Type.Array(Warning, {
    maxItems: WARNINGS_MAX,
    description:
      "What was kept as sent but was probably not intended. Absent if there is nothing. If there is more, the last one says how much.",
  }),
);

const problemMembers = {
  type: Type.String({ description: "`urn:prooftrail:problem:` and the code." }),
  title: Type.String(),
  status: Type.Union(
    [...new Set(PROBLEM_CODES.map((code) => PROBLEMS[code].status))].map((status) => Type.Literal(status)),
  ),
  detail: Type.String(),
  code: wordsOf(PROBLEM_CODES),
  request_id: RequestId,
  errors: Type.Optional(Type.Array(FieldProblem)),
  reasons: Type.Optional(Type.Array(Type.String(), { description: "Only with `not_ready`." })),
  reason_ids: Type.Optional(
    Type.Array(Type.String(), {
      description: "Only with `not_ready`, of `/health/ready`: ids of the reasons.",
    }),
  ),
  sequence: Type.Optional(
    Type.Integer({ description: "Only with `event_expired`: position of the record." }),
  ),
  expired_at: Type.Optional(Type.String({ format: "date-time", description: "Only with `event_expired`." })),
};

const RFC = { description: "RFC 9457 problem details." };
export const ProblemBody = Type.Object(problemMembers, RFC);

export const Watermark = Type.Literal(WATERMARK, {
  description: "On every answer of the sandbox, errors included.",
});
export const SandboxProblemBody = Type.Object({ ...problemMembers, [WATERMARK_MEMBER]: Watermark }, RFC);
