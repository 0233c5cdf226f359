/** Sends one request to the service and classifies the answer. Uses only web standards and `node:zlib`. */
import { clearTimeout, setTimeout } from "node:timers";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { ANSWER_BYTES_MAX, GZIP_BYTES_MIN, WARNING_CHARACTERS_MAX, WARNINGS_MAX } from "./limits.ts";
import type { Answering, Ask, HttpProxy } from "./proxy.ts";
import { retryAfterMs } from "./retry.ts";
import { isError, isJsonObject, type JsonObject } from "./values.ts";

export interface ServiceAddress {
  /** The base URL of the service, without `/v1`. */
  readonly url: string;
  /** Undefined for the sandbox. */
  readonly apiKey: string | undefined;
  readonly requestTimeoutMs: number;
  readonly proxy: HttpProxy | undefined;
}

/** Why the service refused an event, in its own words. */
export interface Rejection {
  /** A documented code, such as `invalid_event`; or `status_413` and the like if the answer did not come from Prooftrail. */
  readonly code: string;
  readonly message: string;
  readonly errors: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

/** The event was stored, but a member of it means nothing to the service, such as a misspelt one. */
export interface EventWarning {
  /** JSON Pointer into the event. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export interface PlacedWarning {
  /** Position of the event in the request; undefined if the warning is about the whole request. */
  readonly position: number | undefined;
  readonly warning: EventWarning;
}

/** The outcome of a request that was not accepted. */
export type Refusal =
  /** The outcome of all events is unknown: no answer came, or one that says to try again. */
  | {
      readonly kind: "again";
      readonly reason: string;
      readonly askedMs?: number | undefined;
      /** Why the very same request may fail again and again: its size, if no answer came in time, or its content, if the answer was 500. */
      readonly suspect?: "size" | "content";
    }
  /** The key, the address or the configuration of the service is wrong, not an event. */
  | { readonly kind: "refused"; readonly reason: string; readonly askedMs?: number | undefined }
  /** Something in the request was refused. If it carried one event, it was that event. */
  | {
      readonly kind: "rejected";
      readonly rejection: Rejection;
      readonly isOurs: boolean;
      readonly askedMs?: number | undefined;
    };

export type Answer = { readonly kind: "taken"; readonly data: JsonObject } | Refusal;

export interface ServiceRequest {
  /** The path, which starts with `/v1`. */
  readonly path: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export const SANDBOX_EVENTS_PATH = "/v1/sandbox/events";

const zip = promisify(gzip);
/** Takes a third of the time of zlib's default level, and the bodies are a fifth larger. */
const GZIP_LEVEL = 2;

const USER_AGENT = "prooftrail-sdk";

export const post = async (service: ServiceAddress, request: ServiceRequest): Promise<Answer> => {
  const { requestTimeoutMs } = service;
  const ending = new AbortController();
  const stop = () => ending.abort(request.signal.reason);
  request.signal.addEventListener("abort", stop);
  if (request.signal.aborted) stop();
  const late = new Error(`No answer within ${requestTimeoutMs} ms.`);
  const timer = setTimeout(() => ending.abort(late), requestTimeoutMs);
  try {
    const response = await send(service, request, ending.signal);
    return readAnswer(response, await readText(response));
  } catch (error) {
    return {
      kind: "again",
      reason: service.proxy ? `${causeOf(error)} (through the proxy ${service.proxy.name})` : causeOf(error),
      ...(ending.signal.reason === late && { suspect: "size" }),
    };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", stop);
  }
};

const send = async (
  service: ServiceAddress,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<Answering> => {
  const { path, body, headers } = request;
  const ask: Ask = service.proxy?.ask ?? fetch;
  const isLarge = body.length >= GZIP_BYTES_MIN;
  return await ask(service.url + path, {
    method: "POST",
    // Following a redirect could turn the request into a GET, or send the key elsewhere.
    redirect: "manual",
    headers: {
      "content-type": "application/json",
      "user-agent": USER_AGENT,
      ...(service.apiKey !== undefined && { authorization: `Bearer ${service.apiKey}` }),
      ...(isLarge && { "content-encoding": "gzip" }),
      ...headers,
    },
    body: isLarge ? await zip(body, { level: GZIP_LEVEL }) : body,
    signal,
  });
};

/** The error of `fetch` says little; its cause says why. */
const causeOf = (error: unknown): string => {
  if (!isError(error)) return String(error);
  return isError(error.cause) ? `${error.message}: ${error.cause.message}` : error.message;
};

/** Reads at most the limit, whatever length was announced: a proxy may answer anything. */
const readText = async (response: Answering): Promise<string> => {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`The answer has more than ${ANSWER_BYTES_MAX} bytes.`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
};

const parsed = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Statuses with which the service, or a proxy in front of it, asks to try later. */
const LATER = new Set([408, 425, 429]);
/** Statuses that no event can cause. */
const ABOUT_THE_WAY = new Set([401, 404, 405, 407, 415]);

const readAnswer = (response: Answering, text: string): Answer => {
  const { status, headers } = response;
  const body = parsed(text);
  const askedMs = retryAfterMs(headers.get("retry-after"), Date.now());
  const asked = askedMs === undefined ? {} : { askedMs };
  const problem = (headers.get("content-type") ?? "").startsWith("application/problem+json")
    ? body
    : undefined;
  const reason = problem ? problemText(problem) : `HTTP ${status}, which is not from Prooftrail.`;
  if (status === 202) {
    const data = body?.data;
    return isJsonObject(data) ? { kind: "taken", data } : { kind: "again", reason: "HTTP 202 without data." };
  }
  if (LATER.has(status) || status >= 500)
    return { kind: "again", reason, ...asked, ...(status === 500 && { suspect: "content" }) };
  // A 403 with a body of the service is about the key. Any other 403 may come from a filter in between that refuses one event.
  const isAboutTheWay = ABOUT_THE_WAY.has(status) || (status === 403 && problem !== undefined);
  if (status < 400 || isAboutTheWay) return { kind: "refused", reason, ...asked };
  return {
    kind: "rejected",
    rejection: rejectionOf(problem ?? { code: `status_${status}`, detail: reason }),
    isOurs: problem !== undefined,
    ...asked,
  };
};

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const problemText = (problem: JsonObject): string => {
  const sentence = text(problem.detail) ?? text(problem.title) ?? "No reason was given.";
  const [code, id] = [text(problem.code), text(problem.request_id)];
  return `${code ? `${code}: ` : ""}${sentence}${id ? ` (request ${id})` : ""}`;
};

/** Whether the refusal of a request with one event is final. A 413 is about the event, whoever answered it. */
export const isFinal = ({ rejection, isOurs }: Extract<Refusal, { kind: "rejected" }>): boolean =>
  isOurs || rejection.code === "status_413";

/** The service's reason, and which members of the event it is about. */
export const reasonOf = ({ message, errors }: Rejection): string =>
  [message, ...errors.map((error) => `${error.path}: ${error.message}`)].join(" ");

/** Reads a problem document, or an entry of `data.errors` in the answer to a batch. */
export const rejectionOf = (entry: JsonObject): Rejection => ({
  code: text(entry.code) ?? "unknown",
  message: text(entry.message) ?? text(entry.detail) ?? text(entry.title) ?? "No reason was given.",
  errors: objectsIn(entry.errors).map((error) => ({
    path: text(error.path) ?? "",
    code: text(error.code) ?? "unknown",
    message: text(error.message) ?? "",
  })),
});

const objectsIn = (list: unknown): readonly JsonObject[] =>
  (Array.isArray(list) ? list : []).filter((entry: unknown) => isJsonObject(entry));

/** Reads `data.warnings` of an answer. A warning without a message is ignored. */
export const warningsIn = ({ warnings }: JsonObject): readonly PlacedWarning[] =>
  objectsIn(warnings)
    .slice(0, WARNINGS_MAX)
    .flatMap(({ index, path, code, message }) => {
      const said = shortText(message);
      if (said === undefined) return [];
      const warning = { path: shortText(path) ?? "", code: shortText(code) ?? "unknown", message: said };
      return { position: typeof index === "number" ? index : undefined, warning };
    });

const shortText = (value: unknown): string | undefined => text(value)?.slice(0, WARNING_CHARACTERS_MAX);

export type EventOutcome =
  | { readonly kind: "stored" }
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /** Not stored, or not known to be stored: sending it again can help. */
  | { readonly kind: "again"; readonly reason: string };

/** Outcomes by position. `askedMs`: the service asked to send nothing for that time. */
export interface Answered {
  readonly kind: "answered";
  readonly outcomes: readonly EventOutcome[];
  readonly duplicates: number;
  readonly warnings: readonly PlacedWarning[];
  readonly askedMs?: number | undefined;
}

export type Delivery = Answered | Refusal;

/** `events` are JSON texts. `mayBeResent`: one of them may have been sent longer ago than the broker remembers. */
export type Deliver = (request: {
  readonly events: readonly string[];
  readonly mayBeResent: boolean;
  readonly signal: AbortSignal;
}) => Promise<Delivery>;

const encoder = new TextEncoder();

/** `POST /v1/events/batch`, or for the sandbox `POST /v1/sandbox/events`, which takes one event at a time. The event texts go into the body unchanged. */
export const createDelivery =
  (service: ServiceAddress): Deliver =>
  async ({ events, mayBeResent, signal }) => {
    if (service.apiKey === undefined) {
      const body = encoder.encode(events[0]);
      const answer = await post(service, { path: SANDBOX_EVENTS_PATH, body, signal });
      if (answer.kind !== "taken") return answer;
      const warnings = warningsIn(answer.data).map(({ warning }) => ({ position: 0, warning }));
      return { kind: "answered", outcomes: [{ kind: "stored" }], duplicates: 0, warnings };
    }
    const path = mayBeResent ? "/v1/events/batch?resent=true" : "/v1/events/batch";
    const body = encoder.encode(`{"events":[${events.join(",")}]}`);
    const answer = await post(service, { path, body, signal });
    return answer.kind === "taken" ? readOutcomes(answer.data, events.length) : answer;
  };

/** An answer counts only if it accounts for all events: one that it does not mention would otherwise be taken for stored. */
export const readOutcomes = (data: JsonObject, sent: number): Delivery => {
  const { accepted, rejected, duplicates, errors } = data;
  const outcomes: EventOutcome[] = Array.from({ length: sent }, () => ({ kind: "stored" }));
  const entries: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const named = new Set<number>();
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue;
    const { index } = entry;
    if (typeof index !== "number" || !(index in outcomes)) continue;
    named.add(index);
    const rejection = rejectionOf(entry);
    outcomes[index] =
      entry.retryable === true
        ? { kind: "again", reason: `${rejection.code}: ${rejection.message}` }
        : { kind: "rejected", rejection };
  }
  if (named.size !== entries.length || accepted !== sent - named.size || rejected !== named.size)
    return { kind: "again", reason: `The answer does not account for each event.` };
  return {
    kind: "answered",
    outcomes,
    duplicates: typeof duplicates === "number" ? duplicates : 0,
    warnings: warningsIn(data),
  };
};
