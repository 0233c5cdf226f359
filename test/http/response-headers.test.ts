/** The OpenAPI document lists the headers of each answer, at its operation and status. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type Answer,
  type CallOptions,
  event,
  startTestService,
  type TestService,
} from "../support/service.ts";

type Described = Record<string, { readonly headers: Record<string, { readonly description: string }> }>;

let service: TestService;
let paths: Record<
  string,
  Record<string, { readonly tags: readonly string[]; readonly responses: Described }>
> = {};
let components: { readonly responses: Described } = { responses: {} };
beforeAll(async () => {
  service = await startTestService();
  ({ paths, components } = (await service.call("/docs/json")).json);
});
afterAll(() => service[Symbol.asyncDispose]());

/** Headers of HTTP itself: how the body is encoded, cached and transferred. */
const OF_HTTP = new Set([
  "cache-control",
  "connection",
  "content-disposition",
  "content-length",
  "content-type",
  "date",
  "transfer-encoding",
  "vary",
  "x-accel-buffering",
]);

const sentBy = ({ headers }: Answer): string[] =>
  [...headers.keys()].filter((name) => !OF_HTTP.has(name)).sort();
const described = (responses: Described | undefined, status: number | string): string[] =>
  Object.keys(responses?.[status]?.headers ?? {})
    .map((name) => name.toLowerCase())
    .sort();

test.each([
  ["post", "/v1/events", 202, { body: event({ event_id: "evt_headers" }) }, ["x-request-id"]],
  [
    "post",
    "/v1/events",
    202,
    { body: event({ event_id: "evt_headers" }) },
    ["idempotency-replayed", "x-request-id"],
  ],
  [
    "post",
    "/v1/events/batch",
    202,
    { body: { events: [event({ event_id: "evt_headers" })] } },
    ["x-request-id"],
  ],
  ["post", "/v1/events", 401, { key: null, body: {} }, ["www-authenticate", "x-request-id"]],
  ["post", "/v1/events", 400, { body: {} }, ["x-request-id"]],
  [
    "post",
    "/v1/events",
    415,
    { body: "{}", headers: { "content-encoding": "br" } },
    ["accept-encoding", "x-request-id"],
  ],
  ["get", "/v1/export", 200, {}, ["x-prooftrail-last-sequence", "x-request-id"]],
  [
    "post",
    "/v1/sandbox/events",
    202,
    { body: event({ event_id: "evt_s" }) },
    ["x-request-id", "x-sandbox-watermark"],
  ],
  [
    "post",
    "/v1/sandbox/events",
    202,
    { body: event({ event_id: "evt_s" }) },
    ["idempotency-replayed", "x-request-id", "x-sandbox-watermark"],
  ],
  ["post", "/v1/sandbox/classify", 400, { body: {} }, ["x-request-id", "x-sandbox-watermark"]],
] as const)("%s %s, %d", async (method, path, status, options: CallOptions, headers) => {
  const answer = await service.call(path, { ...options, method: method.toUpperCase() });
  expect([answer.status, sentBy(answer)]).toEqual([status, [...headers]]);
  expect(described(paths[path]?.[method]?.responses, status)).toEqual(expect.arrayContaining([...headers]));
});

const LIMITED = ["ratelimit", "ratelimit-policy", "retry-after", "x-request-id"];

test("429, for a key and for a client of the sandbox", async () => {
  const made = await service.call("/v1/keys", {
    body: { tenant: "limited", scopes: ["events:read"], rate_limit: { requests_per_second: 1 } },
  });
  const ofKey = await Promise.all(
    Array.from({ length: 5 }, () => service.call("/v1/events", { key: made.json.data.api_key })),
  );
  const ofClient = await Promise.all(Array.from({ length: 120 }, () => service.call("/v1/sandbox/ping")));
  for (const [answers, path, headers] of [
    [ofKey, "/v1/events", LIMITED],
    [ofClient, "/v1/sandbox/ping", [...LIMITED, "x-sandbox-watermark"]],
  ] as const) {
    const refused = answers.find(({ status }) => status === 429);
    if (!refused) throw new Error("none was limited");
    expect(sentBy(refused)).toEqual([...headers]);
    expect(described(paths[path]?.get?.responses, 429)).toEqual([...headers]);
  }
});

test("405, which belongs to no operation", async () => {
  const answer = await service.call("/v1/events", { method: "PATCH", body: {} });
  expect(sentBy(answer)).toEqual(["allow", "x-request-id"]);
  expect(described(components.responses, "MethodNotAllowed")).toEqual(["allow", "x-request-id"]);
});

test("every operation describes the headers of its refusals in the same way, and every sandbox operation its watermark", () => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const { responses, tags } of operations) {
    for (const status of Object.keys(responses)) {
      const names = described(responses, status);
      expect([status, names.includes("www-authenticate")]).toEqual([status, ["401", "403"].includes(status)]);
      expect([status, names.includes("retry-after")]).toEqual([status, ["429", "503"].includes(status)]);
      expect([status, names.includes("ratelimit")]).toEqual([status, status === "429"]);
      expect([status, names.includes("x-sandbox-watermark")]).toEqual([status, tags.includes("Sandbox")]);
    }
  }
});
