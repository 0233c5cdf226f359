/** What a route answers, as data, and the one place that turns it into a response. */
import { ANSWER_CHARACTERS_UNCOUNTED_MAX } from "../../limits.ts";
import { WATERMARK, WATERMARK_MEMBER } from "../sandbox/watermark.ts";
import { type ProblemCode, type ProblemDetails, problem } from "./problem.ts";
import { headersOf, holderOfRequest, type RequestContext } from "./request-context.ts";

export interface Refusal {
  readonly kind: "refused";
  readonly code: ProblemCode;
  readonly details: ProblemDetails;
}

/** `{ "data": …, "request_id": … }`. A list has `next_cursor` as well. */
interface Given {
  readonly kind: "given";
  /** JSON text. It is inserted unchanged: a stored event reads back byte for byte. */
  readonly dataText: string;
  /** Further members as JSON text, each with a comma before it. */
  readonly besideText: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface Sent {
  readonly kind: "sent";
  readonly mediaType: string;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly headers: Readonly<Record<string, string>>;
}

export type Answer = Refusal | Given | Sent;

interface Afterwards {
  readonly kind: "afterwards";
  readonly make: () => Promise<Answer>;
}

export type Answered = Answer | Response | Afterwards;

export const refuse = (code: ProblemCode, details: ProblemDetails | string = {}): Refusal => ({
  kind: "refused",
  code,
  details: typeof details === "string" ? { detail: details } : details,
});

export const invalid = (errors: NonNullable<ProblemDetails["errors"]>): Refusal =>
  refuse("invalid_request", { errors });

export const give = (data: unknown, headers?: Given["headers"]): Given =>
  giveText(JSON.stringify(data), headers);

export const giveText = (dataText: string, headers?: Given["headers"]): Given => ({
  kind: "given",
  dataText,
  besideText: "",
  headers,
});

export const givePage = (
  rowTexts: readonly string[],
  nextCursor: string | null,
  beside: Readonly<Record<string, unknown>> = {},
): Given => ({
  kind: "given",
  dataText: `[${rowTexts.join(",")}]`,
  besideText: `,${JSON.stringify({ next_cursor: nextCursor, ...beside }).slice(1, -1)}`,
});

export const send = (
  mediaType: string,
  body: Sent["body"],
  headers: Readonly<Record<string, string>> = {},
): Sent => ({ kind: "sent", mediaType, body, headers });

export const sendText = (body: string): Sent => send("text/plain; charset=utf-8", body);

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "refused";

/** Has an effect, so it is done once; an answer is recomputed if a view is replaced meanwhile. */
export const afterwards = (make: () => Promise<Answer>): Afterwards => ({ kind: "afterwards", make });

/** The response to what a route answered; a promise only for `afterwards`. */
export const responseOf = (
  context: RequestContext,
  answered: Answered,
  status?: number,
): Response | Promise<Response> => {
  if (answered instanceof Response) return answered;
  if (answered.kind !== "afterwards") return respond(context, answered, status);
  return answered.make().then((answer) => respond(context, answer, status));
};

export const respond = (context: RequestContext, answer: Answer, status = 200): Response => {
  switch (answer.kind) {
    case "refused":
      return problem(context, answer.code, answer.details);
    case "sent":
      return sent(context, answer);
    case "given":
      return given(context, answer, status);
  }
};

const given = (context: RequestContext, answer: Given, status: number): Response => {
  const { requestId, isSandbox } = context;
  const watermark = isSandbox ? `,"${WATERMARK_MEMBER}":"${WATERMARK}"` : "";
  const text = `{"data":${answer.dataText}${answer.besideText}${watermark},"request_id":"${requestId}"}`;
  const headers = headersOf(context);
  headers["content-type"] = "application/json";
  // Caches keep no answer to POST (RFC 9110 §9.3.3), and accepted events are frequent enough to save a header.
  if (status !== 202) headers["cache-control"] = "no-store";
  if (answer.headers) Object.assign(headers, answer.headers);
  if (text.length <= ANSWER_CHARACTERS_UNCOUNTED_MAX) return new Response(text, { status, headers });
  // A long answer counts until its reader has it, and is refused if too much counts already.
  const pieces = context.backpressure.body(
    { holder: holderOfRequest(context), hasKey: context.principal !== undefined, keepOpen: context.keepOpen },
    text,
  );
  return pieces
    ? new Response(pieces, { status, headers: { ...headers, ...UNBUFFERED } })
    : problem(context, "overloaded", { detail: TOO_MUCH_UNTAKEN });
};

const TOO_MUCH_UNTAKEN =
  "Too many long answers are waiting for their readers. Read those that you requested, or ask for fewer rows.";

const sent = (context: RequestContext, { mediaType, body, headers }: Sent): Response =>
  new Response(body, {
    headers: {
      "content-type": mediaType,
      "cache-control": "no-store",
      ...headersOf(context),
      ...((body === null || body instanceof ReadableStream) && UNBUFFERED),
      // For HEAD, as in the answer to GET. Without it Bun sends a content-length of 0 (measured on 1.4.5).
      ...(body === null && { "transfer-encoding": "chunked" }),
      ...headers,
    },
  });

/** Keeps nginx from buffering. */
const UNBUFFERED = { "x-accel-buffering": "no" };

export const notFound = (what: string): Refusal =>
  refuse("not_found", `There is no such ${what} in this key's tenant.`);
