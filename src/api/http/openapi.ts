/** From TypeBox schemas and the catalogue of problems to OpenAPI 3.0 operations. */
import type { TSchema } from "@sinclair/typebox";
import { SCOPE_OPENS } from "../../access/scopes.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import { BODY_MS_MAX, KEPT_TEXT_CHARACTERS_MAX, OBJECT_BODY_BYTES_MAX } from "../../limits.ts";
import { WATERMARK, WATERMARK_MEMBER } from "../sandbox/watermark.ts";
import { type Access, ANY_SCOPE, refusesDevelopers, rolesOf, SEAT_SAYS } from "./access.ts";
import { CODINGS_ACCEPTED } from "./decompress.ts";

import { PROBLEMS, type ProblemCode, problemType, type RequestError } from "./problem.ts";
import { type DescribedHeader, describeHeaders, type ResponseHeader } from "./response-headers.ts";
import { ProblemBody, SandboxProblemBody } from "./schemas.ts";

const RECORDED = `Each change is first written as an event of the tenant \`${SYSTEM_TENANT}\`.`;

export const TAGS = {
  Ingestion: "Sending events. An answer 202 means: stored and synced to disk, once.",
  Reading: "Reading what was stored.",
  Registers: `What an auditor asks for: lists that are built from the events, by the time of the events. Of a long text in \`metadata\`, such as the reason of an objection, they show the first ${KEPT_TEXT_CHARACTERS_MAX} characters, followed by \`…\`; the event has all.`,
  Classification: "Which risk tier a system has, by which laws, and what follows from it.",
  Keys: `Who may do what, in which tenant. ${RECORDED}`,
  Proof: "That nothing was altered and nothing left out, in forms that other tools verify (RFC 6962, C2SP).",
  Retention: `How long the views show events, and what is on hold. ${RECORDED}`,
  Sandbox:
    "To try it without a key. Events are kept in memory for an hour; every answer carries a watermark.",
  Operation: "For the people and machines that run Prooftrail.",
} as const;

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "header" | "path";
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly required?: boolean;
  readonly example?: string | number;
  /** For an object: `form` with `explode` makes each of its members a parameter. */
  readonly style?: "form";
  readonly explode?: boolean;
}

export interface Operation {
  /** Name of the operation in generated clients. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  /** Absent: no key is needed. */
  readonly access?: Access;
  readonly parameters?: readonly Parameter[];
  readonly body?: {
    readonly schema: TSchema;
    readonly example: unknown;
    readonly required?: boolean;
    /** Default: OBJECT_BODY_BYTES_MAX. */
    readonly bytesMax?: number;
  };
  readonly answer: {
    readonly status: number;
    readonly description: string;
    readonly schema: TSchema;
    readonly example: unknown;
    readonly mediaType?: string;
    /** Other representations, as text. */
    readonly others?: readonly { readonly mediaType: string; readonly example: string }[];
    /** True if a repeat is answered with `Idempotency-Replayed`. */
    readonly isReplayed?: boolean;
    /** Headers that no other operation sends. */
    readonly headers?: Readonly<Record<string, DescribedHeader>>;
  };
  readonly problems: readonly ProblemCode[];
}

/** Every operation may answer these. */
const ALWAYS: readonly ProblemCode[] = ["internal_error"];
const WITH_KEY: readonly ProblemCode[] = [
  "missing_api_key",
  "invalid_api_key",
  "session_ended",
  "rate_limited",
  // The views' database may be away, and with the broker's store the keys themselves may be gone.
  "not_ready",
];
const WITH_SCOPE: readonly ProblemCode[] = ["insufficient_scope", "csrf_token_required"];
const WITH_BODY: readonly ProblemCode[] = [
  "payload_too_large",
  "request_timeout",
  "overloaded",
  "unsupported_media_type",
  "invalid_json",
  "invalid_utf8",
  "invalid_request",
];
/** Additional problems of a list, which may be long. */
const LIST: readonly ProblemCode[] = ["overloaded"];

const withAccess = (access: Access): readonly ProblemCode[] => [
  ...(access.scope === ANY_SCOPE ? [] : WITH_SCOPE),
  ...(refusesDevelopers(access) ? (["outside_role"] as const) : []),
  ...(access.isRecorded && access.seat !== "open" ? (["outside_seat"] as const) : []),
  ...(access.isRecorded ? (["log_unavailable"] as const) : []),
];

const problemsOf = (operation: Operation): readonly ProblemCode[] => [
  ...new Set([
    ...(operation.access === undefined ? [] : [...WITH_KEY, ...withAccess(operation.access)]),
    ...(operation.body === undefined ? [] : WITH_BODY),
    ...("next_cursor" in (operation.answer.schema.properties ?? {}) ? LIST : []),
    ...operation.problems,
    ...ALWAYS,
  ]),
];

/**
 * The `detail` of an Elysia route. Its large parts are getters, made when the document is requested: few ask for it, and they are a tenth
 * of a start (measured).
 */
export const describe = (operation: Operation) => {
  const { tag, summary, description, access, parameters, body, answer } = operation;
  const allParameters = [...(parameters ?? []), ...(body ? [CONTENT_ENCODING] : [])];
  const isSandbox = tag === "Sandbox";
  return {
    operationId: operation.id,
    tags: [tag],
    summary,
    description: `${description}${keyText(access)}`,
    security: access === undefined ? [] : [{ apiKey: [] }],
    ...(allParameters.length > 0 && {
      parameters: allParameters.map((parameter) => ({
        required: false,
        ...parameter,
        schema: { ...parameter.schema, ...formatOf(parameter.schema) },
      })),
    }),
    ...(body && {
      requestBody: {
        required: body.required ?? true,
        description: bodyLimits(body.bytesMax),
        get content() {
          return { "application/json": { schema: toOpenApi(body.schema), example: body.example } };
        },
      },
    }),
    responses: {
      [answer.status]: describeAnswer(answer, isSandbox),
      ...describeProblems(problemsOf(operation), isSandbox),
    },
  };
};

const keyText = (access: Operation["access"]): string => {
  if (access === undefined) return " No key is needed.";
  const { scope, seat } = access;
  if (scope === ANY_SCOPE) return "\n\nAny valid key may ask.";
  const roles = `Roles: ${rolesOf(access).join(", ")}.`;
  const limit = access.isRecorded && seat !== "open" ? ` ${SEAT_SAYS[seat]}` : "";
  return `\n\nScope \`${scope}\`: ${SCOPE_OPENS[scope]} ${roles}${limit}`;
};

const CONTENT_ENCODING: Parameter = {
  name: "Content-Encoding",
  in: "header",
  description: "How the body is compressed. Without it, the body is not compressed.",
  schema: { type: "string", enum: CODINGS_ACCEPTED },
};

const bodyLimits = (bytesMax = OBJECT_BODY_BYTES_MAX): string =>
  `JSON in UTF-8, plain or compressed with ${CODINGS_ACCEPTED.join(" or ")}. At most ${bytesMax} bytes, as it is sent and as it is after decompression, and whole within ${BODY_MS_MAX / 1000} s: past that 413 and 408.`;

const headersEverywhere = (isSandbox: boolean): readonly ResponseHeader[] =>
  isSandbox ? ["X-Sandbox-Watermark"] : [];

const describeAnswer = (answer: Operation["answer"], isSandbox: boolean) => {
  const { status, description, schema, mediaType = "application/json", others = [] } = answer;
  const everywhere = headersEverywhere(isSandbox);
  const named: readonly ResponseHeader[] = answer.isReplayed
    ? [...everywhere, "Idempotency-Replayed"]
    : everywhere;
  return {
    description,
    get headers() {
      return { ...describeHeaders(status, named), ...answer.headers };
    },
    get content() {
      return {
        [mediaType]: { schema: toOpenApi(schema), example: answer.example },
        ...Object.fromEntries(
          others.map((other) => [other.mediaType, { schema: { type: "string" }, example: other.example }]),
        ),
      };
    },
  };
};

export const EXAMPLE_REQUEST_ID = "019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a10";

/** One response per status, with an example per code. */
const describeProblems = (codes: readonly ProblemCode[], isSandbox: boolean) => {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [status, describeStatus(status, group, isSandbox)]),
  );
};

/** For answers that belong to no operation. */
export const describeProblem = (code: ProblemCode) => describeStatus(PROBLEMS[code].status, [code], false);

const describeStatus = (status: number, codes: readonly ProblemCode[], isSandbox: boolean) => ({
  description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].when}`).join("\n\n"),
  get headers() {
    return describeHeaders(status, headersEverywhere(isSandbox));
  },
  get content() {
    const examples = codes.map((code) => [code, { value: exampleProblem(code, isSandbox) }]);
    return {
      "application/problem+json": {
        schema: { $ref: `#/components/schemas/${isSandbox ? "SandboxProblem" : "Problem"}` },
        examples: Object.fromEntries(examples),
      },
    };
  },
});

/**
 * Schemas that every operation refers to, under the names that generated clients use. Inlined, the body of problems was half of the
 * document, and 325 types of such a client.
 */
export const describeSchemas = () => ({
  Problem: toOpenApi(ProblemBody),
  SandboxProblem: toOpenApi(SandboxProblemBody),
});

const exampleProblem = (code: ProblemCode, isSandbox: boolean) => {
  const { title, status, when } = PROBLEMS[code];
  return {
    type: problemType(code),
    title,
    status,
    detail: when,
    code,
    request_id: EXAMPLE_REQUEST_ID,
    ...(code === "invalid_request" && { errors: [EXAMPLE_ERROR] }),
    ...(isSandbox && { [WATERMARK_MEMBER]: WATERMARK }),
  };
};

/** An error that every operation may return. */
const EXAMPLE_ERROR: RequestError = {
  path: "query:form",
  code: "unknown_parameter",
  message: "There is no such parameter: did you mean from?",
};

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * JSON Schema as TypeBox writes it → the dialect of OpenAPI 3.0 (§4.7.24), which has no `const`, no `patternProperties`, no type
 * null and no `examples`.
 */
const toOpenApi = (schema: TSchema): Record<string, Json> => {
  const known = converted.get(schema);
  if (known) return known;
  // Removes TypeBox's symbols.
  const plain: Record<string, Json> = JSON.parse(JSON.stringify(schema));
  const made = convert(plain);
  if (!isObject(made)) throw new Error("a schema is an object");
  converted.set(schema, made);
  return made;
};

/** Most schemas are used by several operations, that of problems by all. */
const converted = new WeakMap<TSchema, Record<string, Json>>();

const isObject = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const convert = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(convert);
  if (!isObject(value)) return value;
  const { const: constant, patternProperties, examples, anyOf, ...rest } = value;
  const result: Record<string, Json> = {};
  for (const [name, member] of Object.entries(rest)) {
    if (!name.startsWith("x-")) result[name] = convert(member);
  }
  Object.assign(result, formatOf(rest));
  if (rest["x-unique-items"] === true) result.uniqueItems = true;
  if (constant !== undefined) result.enum = [constant];
  if (isObject(patternProperties))
    result.additionalProperties = convert(Object.values(patternProperties)[0] ?? {});
  if (Array.isArray(examples) && examples[0] !== undefined) result.example = examples[0];
  if (Array.isArray(anyOf)) Object.assign(result, convertUnion(anyOf.map(convert).filter(isObject)));
  return result;
};

/** Without a format generated clients, for example in Java, keep an integer in 32 bits (OpenAPI 3.0, §4.4); a sequence may need more. */
const formatOf = ({ type, maximum }: { readonly type?: unknown; readonly maximum?: unknown }) =>
  type === "integer" && !(typeof maximum === "number" && maximum < 2 ** 31) ? { format: "int64" } : {};

const convertUnion = (members: readonly { readonly [name: string]: Json }[]): Record<string, Json> => {
  const others = members.filter((member) => member.type !== "null");
  const union = unionOf(others);
  return others.length < members.length ? orNull(union) : union;
};

const unionOf = (members: readonly { readonly [name: string]: Json }[]): Record<string, Json> => {
  const [first, ...more] = members;
  if (first && more.length === 0) return { ...first };
  const isOneEnum = members.every((member) => Array.isArray(member.enum) && member.type === first?.type);
  if (!isOneEnum) return { anyOf: members };
  const values = members.flatMap((member) => (Array.isArray(member.enum) ? member.enum : []));
  return { type: first?.type ?? "string", enum: values };
};

/** `nullable` works only beside `type` (OpenAPI 3.0.3 §4.7.24), so in a union each member has it. */
const orNull = (schema: { readonly [name: string]: Json }): Record<string, Json> => {
  const { anyOf, enum: values } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: anyOf.filter(isObject).map(orNull) };
  return Array.isArray(values)
    ? { ...schema, nullable: true, enum: [...values, null] }
    : { ...schema, nullable: true };
};
