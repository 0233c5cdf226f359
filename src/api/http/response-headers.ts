/** The documented response headers, described once. The OpenAPI document shows each where it is sent. */
import { WATERMARK_HEADER_VALUE } from "../sandbox/watermark.ts";

export interface DescribedHeader {
  readonly schema: object;
  readonly description: string;
}

const RESPONSE_HEADERS = {
  "X-Request-Id": {
    schema: { type: "string", format: "uuid" },
    description: "UUIDv7 of the request; yours if you sent one.",
  },
  "X-Sandbox-Watermark": {
    schema: { type: "string", enum: [WATERMARK_HEADER_VALUE] },
    description: "On every answer of the sandbox.",
  },
  "Idempotency-Replayed": {
    schema: { type: "string", enum: ["true"] },
    description:
      "The same event was stored before, and this is what was answered then. Absent for a new one.",
  },
  "WWW-Authenticate": {
    schema: { type: "string" },
    description:
      '`Bearer`; with 403 also `error="insufficient_scope"` and, where one is missing, the `scope` that is needed (RFC 6750).',
  },
  Allow: {
    schema: { type: "string" },
    description: "The methods that the path takes, separated by commas.",
  },
  "Accept-Encoding": {
    schema: { type: "string" },
    description: "The codings that a body may have, where its own is none of them (RFC 7694).",
  },
  "Retry-After": {
    schema: { type: "integer", format: "int32", minimum: 1 },
    description: "Seconds after which sending the same again can help.",
  },
  RateLimit: {
    schema: { type: "string" },
    description:
      "What is left, `r`, and the seconds until there is more, `t` (draft-ietf-httpapi-ratelimit-headers-10).",
  },
  "RateLimit-Policy": {
    schema: { type: "string" },
    description: "The limit: `q` in `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).",
  },
} satisfies Readonly<Record<string, DescribedHeader>>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

const HEADERS_OF_STATUS: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  405: ["Allow"],
  415: ["Accept-Encoding"],
  429: ["Retry-After", "RateLimit", "RateLimit-Policy"],
  503: ["Retry-After"],
};

/** The headers of an answer with this status, and `more` of this answer. */
export const describeHeaders = (
  status: number,
  more: readonly ResponseHeader[] = [],
): Readonly<Record<string, DescribedHeader>> => {
  const names: readonly ResponseHeader[] = ["X-Request-Id", ...(HEADERS_OF_STATUS[status] ?? []), ...more];
  return Object.fromEntries(names.map((name) => [name, RESPONSE_HEADERS[name]]));
};
