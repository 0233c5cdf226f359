/** Success bodies: `{ "data": …, "request_id": … }`; lists add `next_cursor`. */
import { ANSWER_CHARACTERS_UNCOUNTED_MAX } from "../../limits.ts";
import { problem } from "./problem.ts";
import type { RequestContext } from "./request-context.ts";

/** Answers of an audit log must not be cached by others. */
const jsonHeaders = (requestId: string) => ({
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-request-id": requestId,
});

const envelope = (requestId: string, dataText: string): string =>
  `{"data":${dataText},"request_id":"${requestId}"}`;

/** `dataText` is JSON text and is inserted unchanged: a stored event reads back byte for byte. */
export const successText = (options: {
  readonly status?: number;
  readonly requestId: string;
  readonly dataText: string;
}): Response => {
  const { status = 200, requestId, dataText } = options;
  return new Response(envelope(requestId, dataText), {
    status,
    headers: jsonHeaders(requestId),
  });
};

/**
 * The answer to one accepted event. It is the only answer that is frequent enough to save headers: it has no Cache-Control, because caches
 * do not store answers to POST unless told to (RFC 9110 §9.3.3).
 */
export const successAccepted = (options: {
  readonly requestId: string;
  readonly dataText: string;
  readonly isReplayed: boolean;
}): Response => {
  const { requestId, dataText, isReplayed } = options;
  const headers = { "content-type": "application/json", "x-request-id": requestId };
  return new Response(envelope(requestId, dataText), {
    status: 202,
    headers: isReplayed ? { ...headers, "idempotency-replayed": "true" } : headers,
  });
};

export const success = (options: {
  readonly status?: number;
  readonly requestId: string;
  readonly data: unknown;
}): Response => successText({ ...options, dataText: JSON.stringify(options.data) });

export const successList = (options: {
  readonly context: RequestContext;
  readonly rowTexts: readonly string[];
  readonly nextCursor: string | null;
  /** Members besides the rows. */
  readonly beside?: Readonly<Record<string, unknown>>;
}): Response => {
  const { context, rowTexts, nextCursor, beside = {} } = options;
  const { requestId } = context;
  const body = `{"data":[${rowTexts.join(",")}],"next_cursor":${JSON.stringify(nextCursor)}${membersText(beside)},"request_id":"${requestId}"}`;
  return counted(context, body);
};

/** For an answer about one thing that may be as long as a list. */
export const successWhole = (
  context: RequestContext,
  dataText: string,
  beside: Readonly<Record<string, unknown>> = {},
): Response =>
  counted(context, `${envelope(context.requestId, dataText).slice(0, -1)}${membersText(beside)}}`);

const membersText = (members: Readonly<Record<string, unknown>>): string =>
  Object.entries(members)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join("");

/** A long answer counts until its reader has taken it, and is refused if too much counts already. */
const counted = (context: RequestContext, body: string): Response => {
  const { requestId } = context;
  if (body.length <= ANSWER_CHARACTERS_UNCOUNTED_MAX)
    return new Response(body, { headers: jsonHeaders(requestId) });
  const pieces = context.untaken.body(context, body);
  return pieces
    ? successStream({ requestId, mediaType: "application/json", body: pieces })
    : problem(context, "overloaded", { detail: TOO_MUCH_UNTAKEN });
};

const TOO_MUCH_UNTAKEN =
  "Too many long answers are waiting for their readers. Read those that you asked for, or ask for fewer rows where you can.";

/** Plain text, for other tools. */
export const successPlain = (requestId: string, body: string): Response =>
  new Response(body, {
    headers: { ...jsonHeaders(requestId), "content-type": "text/plain; charset=utf-8" },
  });

/** A body that is made while it is sent. Null for `HEAD`, because the framework would read a body to its end. */
export const successStream = (options: {
  readonly requestId: string;
  readonly mediaType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
}): Response => {
  const { requestId, mediaType, headers, body } = options;
  return new Response(body, {
    headers: {
      "content-type": mediaType,
      "cache-control": "no-store",
      "x-request-id": requestId,
      // Keeps nginx from buffering.
      "x-accel-buffering": "no",
      // Like the answer to GET. Without it Bun sends a content-length of 0 (measured on 1.4.5).
      ...(body === null && { "transfer-encoding": "chunked" }),
      ...headers,
    },
  });
};
