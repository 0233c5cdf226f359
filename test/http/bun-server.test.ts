/**
 * What Bun's HTTP server does to requests that HTTP/1.1 allows, as the API's description says. Where one of these fails after an update of Bun, the
 * server has learnt it: take the sentence out of the description and of docs/how-to/proxy.md.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openRaw, rawPost } from "../support/raw-connection.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** All that the service answers to these bytes until it closes the connection, or until an answer to the last request is there. */
const answersTo = async (text: string, { endsAtOnce = false } = {}): Promise<string> => {
  const { socket, soFar } = openRaw(service.url, text);
  if (endsAtOnce) socket.end();
  await until("it is answered", () => socket.destroyed || soFar().includes('"leaf_hash"'));
  socket.destroy();
  return soFar();
};

const post = (
  id: string,
  headers: Readonly<Record<string, string>> = {},
  { chunked = false } = {},
): string => {
  const body = JSON.stringify(event({ event_id: id }));
  const framing = chunked ? { "Transfer-Encoding": "chunked" } : { "Content-Length": String(body.length) };
  const head = rawPost("/v1/events", {
    Host: "localhost",
    Authorization: `Bearer ${service.adminKey}`,
    "Content-Type": "application/json",
    ...framing,
    ...headers,
  });
  return `${head}${chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n` : body}`;
};

const described = async (): Promise<string> =>
  (await service.call("/docs/json", { key: null })).json.info.description;

test("a second request before the first answer closes the connection without any answer", async () => {
  expect(await answersTo(post("evt_first") + post("evt_second"))).toBe("");
  expect(await described()).toContain("carries another request before the first is answered");
});

test("a client that ends its side at once may get no answer, and what it sends again is stored once", async () => {
  const sent = post("evt_ended");
  // Which of the two comes first, the end of its side or the answer, is chance.
  expect(["", "HTTP/1.1 202"]).toContain((await answersTo(sent, { endsAtOnce: true })).slice(0, 12));
  await answersTo(sent);
  expect(await answersTo(sent)).toMatch(/"duplicate":true/);
  expect(await described()).toContain("its sending side is closed before the answer");
});

test("100 is sent for 100-continue in lower case only", async () => {
  expect(await answersTo(post("evt_small", { Expect: "100-continue" }))).toStartWith("HTTP/1.1 100 ");
  expect(await answersTo(post("evt_large", { Expect: "100-Continue" }))).toStartWith("HTTP/1.1 202 ");
  expect(await described()).toContain("is answered with 100 only in lower case");
});

test("trailer fields that nobody announced are a bare 400", async () => {
  const answer = await answersTo(`${post("evt_trailer", {}, { chunked: true })}X-Trailer: 1\r\n\r\n`);
  expect(answer).toBe("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  expect(await described()).toContain("No trailer fields may follow a chunked body");
});
