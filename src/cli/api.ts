/** Asks the service over HTTP. Any answer other than success becomes a Failure that says what to do. */
import { messageOf } from "../runtime/error-text.ts";
import { retryAfterMs } from "../sdk/retry.ts";
import { rejectionOf } from "../sdk/service.ts";
import { version } from "../service/version.ts";
import type { CommandSpec, Input } from "./command.ts";
import { confirm } from "./confirm.ts";
import type { Context } from "./context.ts";
import { EXIT, type ExitCode, Failure, failure, Interrupted } from "./failure.ts";
import { asRecord, asText, type JsonRecord, parseJson } from "./json.ts";
import { CLI_ANSWER_MS_MAX, CLI_LONG_ANSWER_MS_MAX } from "./limits.ts";
import { printAnswer } from "./output.ts";
import { needKey, readAddress, type ServiceAddress, type ServiceKey } from "./service-address.ts";

export interface Question {
  readonly method?: "GET" | "POST" | "DELETE";
  /** The path from `/v1` on, with names percent-encoded. */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Timeout until the answer begins; its body may take longer. */
  readonly timeoutMs?: number;
  /** From the beginning of the answer to its end; default: none, as for a stream. The body of a refusal never gets longer than its head had. */
  readonly bodyMs?: number;
  /** Media type of a successful answer; default JSON. */
  readonly mediaType?: string;
}

export interface Answer {
  readonly text: string;
  readonly value: unknown;
}

export interface Api {
  readonly address: ServiceAddress;
  /** Any answer; a Failure if none came. Throws Interrupted. */
  attempt(question: Question): Promise<Response | Failure>;
  /** A successful answer whose body was not read yet. Throws Failure or Interrupted. */
  open(question: Question): Promise<Response>;
  ask(question: Question): Promise<Answer>;
}

/** For the `catch` of a question that is asked again: a failure after which that can help. Throws any other. */
export const retryable = (error: unknown): Failure => {
  if (error instanceof Failure && error.exitCode === EXIT.unavailable) return error;
  throw error;
};

/** The first step of every command that asks the service. Throws a Failure if there is no key. */
export const openApi = async (input: Input, { environment }: Context): Promise<Api> => {
  const address = readAddress(input, environment);
  return createApi(address, await needKey(input, environment, address));
};

export const dataOf = ({ value }: Answer): JsonRecord => asRecord(asRecord(value)?.data) ?? {};

/**
 * A command that asks the service one question and prints the answer: with --json as it was received, otherwise as `text`. With `sure` a person
 * has to say yes first.
 */
export const answering =
  (
    question: (input: Input) => Question,
    text: (data: JsonRecord, asked: { context: Context; answer: Answer; input: Input }) => string,
    sure?: (input: Input, api: Api) => string | Promise<string>,
  ): CommandSpec["run"] =>
  async (input, context) => {
    const api = await openApi(input, context);
    if (sure && !(await confirm(context, input, () => sure(input, api)))) return EXIT.failed;
    const answer = await api.ask(question(input));
    await printAnswer(context, input, { received: answer.text }, () =>
      text(dataOf(answer), { input, context, answer }),
    );
    return EXIT.ok;
  };

export const createApi = (address: ServiceAddress, key: ServiceKey | undefined): Api => {
  const attempt: Api["attempt"] = (question) =>
    request(address, key, question).catch((error: unknown) => {
      if (question.signal?.aborted) throw new Interrupted();
      return unreachable(address, error);
    });
  const open = async (question: Question): Promise<Response> => {
    const response = await attempt(question);
    if (response instanceof Failure) throw response;
    const problem = response.ok
      ? foreignAnswer(response, address, question.mediaType)
      : await refusalOf(response, address, key);
    if (problem) throw question.signal?.aborted ? new Interrupted() : problem;
    return response;
  };
  return {
    address,
    attempt,
    open,
    ask: async (question) => {
      const response = await open({ bodyMs: CLI_LONG_ANSWER_MS_MAX, ...question });
      const text = await response.text().catch((error: unknown) => {
        if (question.signal?.aborted) throw new Interrupted();
        const broken = `The answer from ${placeOf(address)} broke off: ${describeNetworkError(error)}.`;
        throw failure("broken_transfer", broken, "Try again.");
      });
      const value = parseJson(text);
      if (value === undefined) throw unexpectedAnswer(address, response, "a body that is not JSON");
      if (asRecord(value)?.data === undefined)
        throw unexpectedAnswer(address, response, "JSON without `data`");
      return { text, value };
    },
  };
};

const request = async (
  { url }: ServiceAddress,
  key: ServiceKey | undefined,
  { method, path, query, body, headers, signal, timeoutMs = CLI_ANSWER_MS_MAX, bodyMs }: Question,
): Promise<Response> => {
  // AbortSignal.timeout would also end a long body.
  const waiting = new AbortController();
  const stopAfter = (ms: number, what: string) =>
    setTimeout(() => waiting.abort(new Error(`${what} within ${ms / 1000} s`)), ms);
  const timer = stopAfter(timeoutMs, "no answer");
  const question = query === undefined || query.size === 0 ? "" : `?${query}`;
  try {
    const response = await fetch(`${url}${path}${question}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        "user-agent": `prooftrail-cli/${version}`,
        ...(key && { authorization: `Bearer ${key.text}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      // A redirect must not carry the key to another address.
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, waiting.signal]) : waiting.signal,
    });
    // A connection can die silently between head and body. Aborting a finished answer has no effect.
    const endMs = bodyMs ?? (response.ok ? undefined : timeoutMs);
    if (endMs !== undefined) stopAfter(endMs, "no whole answer").unref();
    return response;
  } finally {
    clearTimeout(timer);
  }
};

const CANNOT: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  ECONNRESET: "the connection was closed",
};

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

export const describeNetworkError = (error: unknown): string => CANNOT[codeOf(error)] ?? messageOf(error);

const placeOf = ({ url, source }: ServiceAddress): string => `${url} (${source})`;

const unreachable = (address: ServiceAddress, error: unknown): Failure =>
  failure(
    "unreachable",
    `No answer from ${placeOf(address)}: ${describeNetworkError(error)}.`,
    address.isLoopback && codeOf(error) === "ECONNREFUSED"
      ? "Start a service: prooftrail serve\nOr say where one is: --url, or PROOFTRAIL_URL."
      : "Check the address, and that the service runs there.",
  );

export const refusalOf = async (
  response: Response,
  address: ServiceAddress,
  key: ServiceKey | undefined,
): Promise<Failure> => {
  const { status, headers } = response;
  const problem = asRecord(parseJson(await response.text().catch(() => "")));
  const code = asText(problem?.code);
  if (!problem || code === undefined) return unexpectedAnswer(address, response, `status ${status}`);
  const { type, title, detail, request_id, errors } = problem;
  const requestId = asText(request_id);
  const advice = adviceFor(code, response, key);
  const document = {
    type: asText(type) ?? "about:blank",
    title: asText(title) ?? `Status ${status}`,
    detail: asText(detail) ?? "",
    code,
    status,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(Array.isArray(errors) && { errors: rejectionOf(problem).errors }),
    ...(advice !== undefined && { advice }),
  };
  return new Failure(exitCodeOf(status), document, retryAfterMs(headers.get("retry-after"), Date.now()));
};

const LATER = "Try again in a moment.";
const DOCTOR_SAYS = "prooftrail doctor, where the service runs, says what is wrong.";
const OF_VERSIONS = "Client and service may be of different versions: compare prooftrail --version.";
const FEWER = "Make the event smaller, or send fewer at once.";
const PARTS =
  "Ask in parts: --asset-id, --correlation-id, --decision-id, --subject-hash, or shorter times with --from and --to.";

/** What to do at the command line about a refusal of the API, by its code, where its detail does not say it. */
const ADVICE: Readonly<Record<string, string>> = {
  invalid_request: "Correct what is named and try again; --help says what each option takes.",
  missing_api_key: "Set PROOFTRAIL_API_KEY, or name a file with --key-file.",
  invalid_api_key: "Check the key, or have a new one created: prooftrail keys create",
  insufficient_scope:
    "Use a key that has the scope, or have one created: prooftrail keys create --scope …; for another tenant use the admin key.",
  not_found: "Check the name and the tenant: a key sees only its own tenant.",
  no_api: "Name a process that has the role api, with --url or PROOFTRAIL_URL.",
  method_not_allowed: OF_VERSIONS,
  unsupported_media_type: OF_VERSIONS,
  payload_too_large: FEWER,
  evidence_too_large: PARTS,
  rate_limited: "Wait, or send less at once.",
  internal_error:
    "Give the request_id to the operator of the service. If you were creating a key, check first whether it exists: prooftrail keys list",
  log_behind: DOCTOR_SAYS,
  log_unavailable: `Try again; ${DOCTOR_SAYS}`,
  not_sealed: "Try again in a moment, or with a longer --wait.",
  not_ready: `Wait; ${DOCTOR_SAYS}`,
  overloaded: LATER,
  view_behind: `${LATER} prooftrail views status shows how far the views are.`,
};

const adviceFor = (code: string, { headers }: Response, key: ServiceKey | undefined): string | undefined => {
  const advice = ADVICE[code];
  if (code === "invalid_api_key" && key) return `The key is from ${key.source}. ${advice}`;
  const seconds = headers.get("retry-after");
  return code === "rate_limited" && seconds !== null ? `${advice} Retry after ${seconds} s.` : advice;
};

const exitCodeOf = (status: number): ExitCode => {
  if (status === 401 || status === 403) return EXIT.forbidden;
  if (status === 400) return EXIT.usage;
  return status >= 500 || status === 429 || status === 408 ? EXIT.unavailable : EXIT.failed;
};

/** What is wrong with a successful answer that does not come from Prooftrail, such as a proxy's login page: it must not pass for one. */
const foreignAnswer = (
  response: Response,
  address: ServiceAddress,
  mediaType = "application/json",
): Failure | undefined => {
  const sent = response.headers.get("content-type");
  const [type = ""] = (sent ?? "").split(";");
  if (type.trim().toLowerCase() !== mediaType)
    return unexpectedAnswer(address, response, `${sent ?? "no Content-Type"} and not with ${mediaType}`);
  return response.headers.has("x-request-id")
    ? undefined
    : unexpectedAnswer(address, response, `${sent}, without the X-Request-Id that Prooftrail sends`);
};

const unexpectedAnswer = (address: ServiceAddress, response: Response, what: string): Failure => {
  const place = response.headers.get("location");
  const detail = `${placeOf(address)} answered with ${what}${place === null ? "" : `, to ${place}`}.`;
  return response.status >= 500
    ? failure("unreachable", detail, "Check that the service runs: a proxy may answer in its place.")
    : failure(
        "unexpected_answer",
        detail,
        "Check the address: another program may answer there, or a proxy that wants a login.",
      );
};
