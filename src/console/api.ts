/** Questions to the service. An answer is data, or the reason why there is none. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { apiAddress, type Parameters } from "./address.ts";
import { csrfToken, signedOut } from "./session.ts";

export interface Failure {
  readonly kind: "failed";
  /** The code of the problem, or `offline` if no answer came. */
  readonly code: string;
  readonly detail: string;
  readonly requestId?: string;
  /** Where the service says which part of what was sent is wrong: paths as it writes them. */
  readonly errors?: readonly FieldError[];
}

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export type Answer<Body> = { readonly kind: "answered"; readonly body: Body } | Failure;

export type Loading = { readonly kind: "loading" };

export interface One<Data> {
  readonly data: Data;
}

export interface List<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
  /** With `count=true`. Not exact: at least so many. */
  readonly count?: { readonly value: number; readonly exact: boolean };
}

export const OFFLINE: Failure = { kind: "failed", code: "offline", detail: "" };

export const problemOf = async (response: Response): Promise<Failure> => {
  const body: unknown = await response.json().catch(() => undefined);
  const text = (name: string): string | undefined => {
    const value = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === "string" ? value : undefined;
  };
  const requestId = text("request_id");
  const errors: unknown = Object(body).errors;
  const fields: readonly FieldError[] = Array.isArray(errors)
    ? errors.map((error) => ({ path: String(Object(error).path), message: String(Object(error).message) }))
    : [];
  return {
    kind: "failed",
    code: text("code") ?? String(response.status),
    detail: fields.map(({ message }) => message).join(" ") || (text("detail") ?? response.statusText),
    errors: fields,
    ...(requestId !== undefined && { requestId }),
  };
};

/** A change. The token says that the request comes from this page. */
export const change = <Body>(
  path: string,
  body: object,
  method: ChangeMethod = "POST",
): Promise<Answer<Body>> => send(path, JSON.stringify(body), { method });

type ChangeMethod = "POST" | "PUT";

/** As `change`, of a text that is JSON. */
export const send = <Body>(
  path: string,
  body: string,
  {
    method = "POST",
    headers = {},
  }: { readonly method?: ChangeMethod; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer<Body>> =>
  answerTo(apiAddress(path), {
    method,
    headers: { ...headers, "content-type": "application/json", "x-csrf-token": csrfToken() },
    body,
  });

/** The caller names the form of the answer; the service's own document of it is /docs/json. */
export const ask = <Body>(
  path: string,
  parameters: Parameters = {},
  signal?: AbortSignal,
): Promise<Answer<Body>> => answerTo(apiAddress(path, parameters), { ...(signal && { signal }) });

const answerTo = async <Body>(address: string, request: RequestInit): Promise<Answer<Body>> => {
  try {
    const response = await fetch(address, request);
    if (isOfProxy(response)) return noAnswer();
    if (response.status === 401) signedOut();
    if (!response.ok) return await problemOf(response);
    const isJson = response.headers.get("content-type")?.includes("json");
    return { kind: "answered", body: isJson ? await response.json() : await response.text() };
  } catch {
    return request.signal?.aborted ? OFFLINE : noAnswer();
  }
};

/** What a proxy says while the service behind it is away. The service itself has no such answers. */
const isOfProxy = ({ status }: Response): boolean => status === 502 || status === 504;

const ASK_AGAIN_MS = 3_000;
let isAway = false;
/** How many times the service came back. Screens then ask anew, because parts of them may have failed without a word. */
const returns = signal(0);

const noAnswer = (): Failure => {
  if (isAway) return OFFLINE;
  isAway = true;
  const timer = setInterval(async () => {
    const response = await fetch(apiAddress("v1/session")).catch(() => undefined);
    if (response === undefined || isOfProxy(response)) return;
    clearInterval(timer);
    isAway = false;
    returns.value++;
  }, ASK_AGAIN_MS);
  return OFFLINE;
};

export interface Asked<Body> {
  readonly answer: Answer<Body> | Loading;
  readonly again: () => void;
}

/** The answer to a question that a screen shows. What was shown stays until a new answer comes, unless the question is another one. Another version asks again. */
export const useAnswer = <Body>(path: string, parameters: Parameters = {}, version = 0): Asked<Body> => {
  const address = apiAddress(path, parameters);
  const [tries, setTries] = useState(0);
  const [shown, setShown] = useState<{ address: string; answer: Answer<Body> }>();
  useEffect(() => {
    const controller = new AbortController();
    ask<Body>(path, parameters, controller.signal).then((answer) => {
      if (!controller.signal.aborted) setShown({ address, answer });
    });
    return () => controller.abort();
  }, [address, tries, version, returns.value]);
  const answer = shown?.address === address ? shown.answer : { kind: "loading" as const };
  return { answer, again: () => setTries(tries + 1) };
};

export const remove = <Body>(path: string): Promise<Answer<Body>> =>
  answerTo(apiAddress(path), { method: "DELETE", headers: { "x-csrf-token": csrfToken() } });
