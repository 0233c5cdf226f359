/** From the declaration of a route, its TypeBox schemas and the catalogue of problems to an OpenAPI 3.0 operation. */
import { type TSchema, Type } from "@sinclair/typebox";
import { SCOPE_OPENS } from "../../access/scopes.ts";
import { SYSTEM_TENANT } from "../../access/tenant.ts";
import { BODY_MS_MAX, KEPT_TEXT_CHARACTERS_MAX, OBJECT_BODY_BYTES_MAX } from "../../limits.ts";
import { WATERMARK, WATERMARK_HEADER_VALUE, WATERMARK_MEMBER } from "../sandbox/watermark.ts";
import { type Access, ANY_SCOPE, refusesDevelopers, rolesOf, SEAT_SAYS } from "./access.ts";
import { CODINGS_ACCEPTED } from "./body.ts";
import { EXAMPLE_REQUEST_ID, EXAMPLE_VALUES, exampleOf } from "./example.ts";
import { formatOf, toOpenApi } from "./openapi-schema.ts";
import { documentedOf, MIN_SEQUENCE, type Parameter, type Questions } from "./parameters.ts";
import { PROBLEMS, type ProblemCode, problemType, type RequestError } from "./problem.ts";
import { ProblemBody, RequestId, SandboxProblemBody, Watermark } from "./schemas.ts";

const RECORDED = `Each change is first written as an event of the tenant \`${SYSTEM_TENANT}\`.`;

export const TAGS = {
  Ingestion: "Sending events. 202 means: stored and synced to disk, once.",
  Reading: "Reading what was stored.",
  Registers: `What an auditor asks for: lists built from the events, by their own times. Of a long text in \`metadata\`, such as the reason of an objection, they show the first ${KEPT_TEXT_CHARACTERS_MAX} characters and \`…\`; the event has all.`,
  Classification: "Which risk tier a system has, by which laws, and what follows from it.",
  Keys: `Who may do what, in which tenant. ${RECORDED}`,
  Proof: "Proof that nothing was altered or removed, in forms that other tools verify (RFC 6962, C2SP).",
  Retention: `How long the views show events, and what is on hold. ${RECORDED}`,
  Sandbox: "Try it without a key. Events are kept in memory for an hour; every answer carries a watermark.",
  Operation: "For the people and machines that run Prooftrail.",
} as const;

interface Header {
  readonly schema: object;
  readonly description: string;
}

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** A route's successful answer. */
interface DescribedAnswer {
  /** Default: 200. */
  readonly status?: 201 | 202;
  /** Schema of `data`, or of one of its rows. A text where the media type is not JSON. */
  readonly gives: TSchema;
  /** Default: built from the schema. */
  readonly example?: unknown;
  readonly isList?: boolean;
  /** Members beside `data`. */
  readonly beside?: Readonly<Record<string, TSchema>>;
  readonly mediaType?: string;
  /** Other representations, as text. */
  readonly others?: readonly { readonly mediaType: string; readonly example: string }[];
  /** Headers that no other operation sends. */
  readonly sends?: Readonly<Record<string, Header>>;
}

/** A route's documentation. */
export interface Described extends DescribedAnswer {
  readonly on: `${Method} /${string}`;
  /** Name of the operation in generated clients. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  /** Absent: no key is needed. */
  readonly access?: Access;
  readonly whileBehind?: true;
  readonly query?: Questions;
  readonly headers?: readonly Parameter[];
  /** What is special about parameters in the path. */
  readonly inPath?: Readonly<Record<string, Partial<Parameter>>>;
  /** The views behind the answer. Their reads take `min_sequence`. */
  readonly views?: readonly string[];
  readonly body?: {
    readonly schema: TSchema;
    readonly example: unknown;
    readonly isOptional?: boolean;
    /** Default: OBJECT_BODY_BYTES_MAX. */
    readonly bytesMax?: number;
  };
  /** Besides those that follow from the rest. */
  readonly problems?: readonly ProblemCode[];
}

const WITH_BODY: readonly ProblemCode[] = [
  "payload_too_large",
  "request_timeout",
  "overloaded",
  "unsupported_media_type",
  "invalid_json",
  "invalid_utf8",
  "invalid_request",
];

const problemsOfAccess = ({ scope, isRecorded, seat }: Access): readonly ProblemCode[] => [
  "missing_api_key",
  "invalid_api_key",
  "session_ended",
  "rate_limited",
  // The views' database may be down, and with the broker's store the keys themselves may be gone.
  "not_ready",
  "invalid_request",
  ...(scope === ANY_SCOPE ? [] : (["insufficient_scope", "csrf_token_required"] as const)),
  ...(isRecorded ? (["log_unavailable"] as const) : []),
  ...(isRecorded && seat !== "open" ? (["outside_seat"] as const) : []),
];

const problemsOf = ({ on, access, body, views, isList, whileBehind, problems = [] }: Described) => [
  ...new Set<ProblemCode>([
    ...(access ? problemsOfAccess(access) : []),
    ...(access && refusesDevelopers(access) ? (["outside_role"] as const) : []),
    ...(access && !on.startsWith("GET") && !whileBehind ? (["log_behind", "log_unavailable"] as const) : []),
    ...(on.includes("/:") ? (["not_found"] as const) : []),
    ...(body ? WITH_BODY : []),
    ...(views ? (["view_behind"] as const) : []),
    ...(isList ? (["overloaded"] as const) : []),
    ...problems,
    "internal_error",
  ]),
];

/** The `detail` of an Elysia route. Its large parts are built on request, as few ask for it (measured: a tenth of a start). */
export const describe = (route: Described) => {
  const { id, tag, summary, description, access, body, status = 200 } = route;
  const isSandbox = tag === "Sandbox";
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description}${keyText(access)}`,
    security: access ? [{ apiKey: [] }] : [],
    get parameters() {
      return parametersOf(route);
    },
    ...(body && {
      requestBody: {
        required: !body.isOptional,
        description: bodyLimits(body.bytesMax),
        get content() {
          return { "application/json": { schema: toOpenApi(body.schema), example: body.example } };
        },
      },
    }),
    get responses() {
      return {
        [status]: describeAnswer(route, isSandbox),
        ...describeProblems(problemsOf(route), isSandbox),
      };
    },
  };
};

const keyText = (access: Access | undefined): string => {
  if (access === undefined) return " No key is needed.";
  const { scope, seat, isRecorded } = access;
  if (scope === ANY_SCOPE) return "\n\nAny valid key may ask.";
  const limit = isRecorded && seat !== "open" ? ` ${SEAT_SAYS[seat]}` : "";
  return `\n\nScope \`${scope}\`: ${SCOPE_OPENS[scope]} Roles: ${rolesOf(access).join(", ")}.${limit}`;
};

const PATH =
  "Percent-encoded. `.` and `../..` cannot be read here, because URL clients remove them, also as `%2E`: use the lists and their filters.";

const parametersOf = ({ on, inPath = {}, headers = [], query = {}, views, body }: Described) => {
  const named = [...on.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: PATH,
    schema: { type: "string" },
    example: EXAMPLE_VALUES[name],
    ...inPath[name],
  }));
  const all = [
    ...named,
    ...headers,
    ...documentedOf(query),
    ...(views ? MIN_SEQUENCE.documented : []),
    ...(body ? [CONTENT_ENCODING] : []),
  ];
  // A route may say more about a parameter that every read takes.
  const once = all.filter((each, index) => all.findIndex(({ name }) => name === each.name) === index);
  if (once.length === 0) return undefined;
  return once.map((each) => ({
    required: false,
    ...each,
    schema: { ...each.schema, ...formatOf(each.schema) },
  }));
};

const CONTENT_ENCODING: Parameter = {
  name: "Content-Encoding",
  in: "header",
  description: "How the body is compressed. Without it, the body is not compressed.",
  schema: { type: "string", enum: CODINGS_ACCEPTED },
};

const bodyLimits = (bytesMax = OBJECT_BODY_BYTES_MAX): string =>
  `JSON in UTF-8, plain or compressed with ${CODINGS_ACCEPTED.join(" or ")}. At most ${bytesMax} bytes, as sent and after decompression, complete within ${BODY_MS_MAX / 1000} s: otherwise 413 or 408.`;

const REQUEST_ID: Header = {
  schema: { type: "string", format: "uuid" },
  description: "UUIDv7 of the request; yours if you sent one.",
};

const SANDBOX_HEADER: Readonly<Record<string, Header>> = {
  "X-Sandbox-Watermark": {
    schema: { type: "string", enum: [WATERMARK_HEADER_VALUE] },
    description: "On every answer of the sandbox.",
  },
};

const CHALLENGE: Readonly<Record<string, Header>> = {
  "WWW-Authenticate": {
    schema: { type: "string" },
    description:
      '`Bearer`; with 403 also `error="insufficient_scope"` and, where one is missing, the `scope` that is needed (RFC 6750).',
  },
};

const RETRY: Readonly<Record<string, Header>> = {
  "Retry-After": {
    schema: { type: "integer", format: "int32", minimum: 1 },
    description: "Seconds after which a retry may succeed.",
  },
};

const HEADERS_OF_STATUS: Readonly<Record<number, Readonly<Record<string, Header>>>> = {
  401: CHALLENGE,
  403: CHALLENGE,
  405: {
    Allow: {
      schema: { type: "string" },
      description: "The methods that the path takes, separated by commas.",
    },
  },
  415: {
    "Accept-Encoding": {
      schema: { type: "string" },
      description: "The codings that a body may have, if its own is not supported (RFC 7694).",
    },
  },
  429: {
    ...RETRY,
    RateLimit: {
      schema: { type: "string" },
      description:
        "What is left (`r`), and the seconds until there is more (`t`) (draft-ietf-httpapi-ratelimit-headers-10).",
    },
    "RateLimit-Policy": {
      schema: { type: "string" },
      description: "The limit: `q` in `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).",
    },
  },
  503: RETRY,
};

const headersOf = (status: number, isSandbox: boolean) => ({
  "X-Request-Id": REQUEST_ID,
  ...HEADERS_OF_STATUS[status],
  ...(isSandbox && SANDBOX_HEADER),
});

const describeAnswer = (answer: DescribedAnswer, isSandbox: boolean) => {
  const { status = 200, gives, mediaType = JSON_TYPE, others = [], sends } = answer;
  const isText = mediaType !== JSON_TYPE;
  return {
    description: MEANS[status],
    headers: { ...headersOf(status, isSandbox), ...sends },
    content: {
      [mediaType]: {
        schema: toOpenApi(isText ? gives : answerSchema(answer, isSandbox)),
        example: isText ? (answer.example ?? "") : answerExample(answer, isSandbox),
      },
      ...Object.fromEntries(
        others.map((other) => [other.mediaType, { schema: { type: "string" }, example: other.example }]),
      ),
    },
  };
};

const MEANS = { 200: "The answer.", 201: "Created.", 202: "Stored." } as const;

const JSON_TYPE = "application/json";

const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: "Send it as `cursor`; null at the end.",
});

const Count = Type.Object(
  {
    value: Type.Integer({ minimum: 0 }),
    exact: Type.Boolean({ description: "False: at least that many." }),
  },
  { description: "With `count=true`: how many rows match." },
);

export const answerSchema = ({ gives, isList, beside }: DescribedAnswer, isSandbox = false): TSchema =>
  Type.Object({
    data: isList ? Type.Array(gives) : gives,
    ...(isList && { next_cursor: NextCursor }),
    ...(isList && !isSandbox && { count: Type.Optional(Count) }),
    request_id: RequestId,
    ...beside,
    ...(isSandbox && { [WATERMARK_MEMBER]: Watermark }),
  });

const answerExample = (answer: DescribedAnswer, isSandbox: boolean) => {
  const { gives, isList, beside = {}, example = exampleOf(gives) } = answer;
  return {
    data: isList ? [example] : example,
    ...(isList && { next_cursor: null }),
    ...Object.fromEntries(Object.entries(beside).map(([name, of]) => [name, exampleOf(of, name)])),
    request_id: EXAMPLE_REQUEST_ID,
    ...(isSandbox && { [WATERMARK_MEMBER]: WATERMARK }),
  };
};

/** One response per status, with an example per code. */
const describeProblems = (codes: readonly ProblemCode[], isSandbox: boolean) =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => PROBLEMS[code].status)].map(([status, group]) => [
      status,
      describeStatus(status, group, isSandbox),
    ]),
  );

export const describeProblem = (code: ProblemCode) => describeStatus(PROBLEMS[code].status, [code], false);

const describeStatus = (status: number, codes: readonly ProblemCode[], isSandbox: boolean) => ({
  description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].when}`).join("\n\n"),
  headers: headersOf(status, isSandbox),
  content: {
    "application/problem+json": {
      schema: { $ref: `#/components/schemas/${isSandbox ? "SandboxProblem" : "Problem"}` },
      examples: Object.fromEntries(codes.map((code) => [code, { value: exampleProblem(code, isSandbox) }])),
    },
  },
});

/** Schemas that every operation refers to: inlined, the body of problems was half of the document, and 325 types of a generated client. */
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

const EXAMPLE_ERROR: RequestError = {
  path: "query:form",
  code: "unknown_parameter",
  message: "There is no such parameter: did you mean from?",
};
