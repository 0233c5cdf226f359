/**
 * A service that answers as a test says and records its requests: for answers that a healthy service does not give. The real service is tested
 * in real-service.suite.ts.
 */
import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

export interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The events of a batch, in their order. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** `performance.now()`. */
  readonly atMs: number;
}

export interface Answered {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `hang` gives no answer, `cut` breaks the connection off. */
export type Reply = Answered | "hang" | "cut";
export type Script = (asked: Asked) => Reply | Promise<Reply>;

export interface ScriptedService {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Ids of the events of all requests, in order. */
  readonly eventIds: readonly unknown[];
  script: Script;
}

/** Accepts everything. */
export const takeAll: Script = ({ events }) => batchAnswer(events.length);

export const batchAnswer = (
  sent: number,
  errors: readonly { readonly index: number; readonly code: string; readonly retryable?: true }[] = [],
): Answered => {
  const accepted = sent - errors.length;
  const described = errors.map((error) => ({ message: `message of ${error.code}`, errors: [], ...error }));
  const data = { accepted, rejected: errors.length, duplicates: 0, errors: described, sequence: accepted };
  return { status: 202, body: JSON.stringify({ data, request_id: "req_1" }) };
};

export const problemAnswer = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Answered => ({
  status,
  headers: { "content-type": "application/problem+json", ...headers },
  body: JSON.stringify({
    type: "about:blank",
    title: code,
    status,
    code,
    detail: `detail of ${code}`,
    request_id: "req_1",
  }),
});

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  return (request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString("utf8");
};

export const withScriptedService = async (
  script: Script,
  use: (service: ScriptedService) => Promise<void>,
): Promise<void> => {
  const asked: Asked[] = [];
  const service = {
    url: "",
    script,
    asked,
    get eventIds() {
      return asked.flatMap(({ events }) => events.map(({ event_id }) => event_id));
    },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await read(request);
    const body = JSON.parse(text);
    const atMs = performance.now();
    const one: Asked = {
      path: request.url ?? "",
      headers: request.headers,
      text,
      events: Array.isArray(body.events) ? body.events : [body],
      atMs,
    };
    asked.push(one);
    const reply = await service.script(one);
    if (reply === "hang") return;
    if (reply === "cut") {
      request.socket.destroy();
      return;
    }
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(reply.body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  service.url = `http://127.0.0.1:${address.port}`;
  try {
    await use(service);
  } finally {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
};
