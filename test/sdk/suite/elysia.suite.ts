/**
 * The plugin for Elysia, tested with requests that are passed to an app. Listening needs another package on Node, so tests of a listening app are in
 * test/sdk/elysia.test.ts, on Bun.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Elysia, t } from "elysia";
import { createTestClient } from "prooftrail-sdk";
import { type AnsweredRequest, audit } from "prooftrail-sdk/elysia";
import { until } from "../../support/until.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const inference = { asset_id: "credit_model", event_type: "ai_inference" } as const;

const request = (path: string, headers: Readonly<Record<string, string>> = {}, body?: string) =>
  new Request(`http://localhost${path}`, {
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { method: "POST", body }),
  });

/** The events that a handler records for a request with these headers. */
const recordedFor = async (headers: Readonly<Record<string, string>>) => {
  const client = createTestClient();
  const app = new Elysia().use(audit(client)).get("/", (context) => context.audit.capture(inference).kind);
  assert.equal(await (await app.handle(request("/", headers))).text(), "kept");
  const [event] = client.events;
  assert.ok(event);
  return event;
};

test("events that a handler records have the request's id and trace", async () => {
  const { correlation_id, trace_id, span_id } = await recordedFor({
    "x-request-id": "req-7",
    traceparent: `00-${TRACE}-${SPAN}-01`,
  });
  assert.deepEqual([correlation_id, trace_id, span_id], ["req-7", TRACE, SPAN]);
});

test("a request without a usable id gets a new one, the same for all of its events", async () => {
  const client = createTestClient();
  const app = new Elysia().use(audit(client)).get("/", (context) => {
    context.audit.capture(inference);
    context.audit.with({ tags: { step: 2 } }).capture(inference);
  });
  for (const id of [undefined, "", "two words", "a, b", "x".repeat(257), "é"])
    await app.handle(request("/", id === undefined ? {} : { "x-request-id": id }));
  const ids = client.events.map(({ correlation_id }) => String(correlation_id));
  for (const id of ids) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.equal(new Set(ids).size, 6);
  assert.deepEqual(
    ids.filter((_, at) => at % 2 === 0),
    ids.filter((_, at) => at % 2 === 1),
  );
});

for (const traceparent of [
  `00-${"0".repeat(32)}-${SPAN}-01`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}`,
])
  test(`an invalid traceparent counts as absent: ${traceparent}`, async () => {
    const event = await recordedFor({ traceparent });
    assert.ok(!("trace_id" in event || "span_id" in event));
  });

test("a traceparent of a later version is read as far as its format is known", async () => {
  const { trace_id, span_id } = await recordedFor({ traceparent: `cc-${TRACE}-${SPAN}-01-what-comes-later` });
  assert.deepEqual([trace_id, span_id], [TRACE, SPAN]);
});

/** An app whose routes all have the same description, and its recorded events as soon as there are this many. */
const audited = () => {
  const client = createTestClient();
  const plugin = audit(client);
  const describe = {
    audit: ({ method, path, response, status, error }: AnsweredRequest) => ({
      ...inference,
      metadata: {
        call: `${method} ${path}`,
        status,
        ...(typeof response === "string" && { response }),
        ...(error instanceof Error && { failed: error.constructor.name }),
      },
    }),
  };
  const app = new Elysia()
    .onError(({ code }) => (code === "VALIDATION" ? "not valid" : undefined))
    .use(plugin)
    .get("/text", () => "text", describe)
    .get(
      "/created",
      ({ set }) => {
        set.status = "Created";
        return "made";
      },
      describe,
    )
    .get("/status", ({ status }) => status(418, "tea"), describe)
    .get("/response", () => new Response("own", { status: 202 }), describe)
    .get(
      "/throws",
      (): string => {
        throw new TypeError("for Kim Minji");
      },
      describe,
    )
    .post("/valid", ({ body }) => body.name, { ...describe, body: t.Object({ name: t.String() }) })
    .post("/reads-itself", async ({ request: asked }) => asked.text(), describe)
    .get("/silent", () => "nothing is described")
    .use(new Elysia({ prefix: "/child" }).use(plugin).get("/text", () => "child", describe));
  const recorded = async (asked: Request) => {
    client.clear();
    const response = await app.handle(asked);
    const text = await response.text();
    const event = await until("it is recorded", () => client.events[0]);
    const { duration_ms, source_id, source_sequence, ...metadata } = {
      ...(event.metadata as Record<string, unknown>),
    };
    assert.ok(Number.isSafeInteger(duration_ms) && source_id && source_sequence);
    return { text, metadata, events: client.events.length };
  };
  return { client, app, recorded };
};

for (const [asked, text, metadata] of [
  [() => request("/text"), "text", { call: "GET /text", status: 200, response: "text" }],
  [() => request("/created"), "made", { call: "GET /created", status: 201, response: "made" }],
  [() => request("/status"), "tea", { call: "GET /status", status: 418, response: "tea" }],
  [() => request("/response"), "own", { call: "GET /response", status: 202 }],
  [() => request("/child/text"), "child", { call: "GET /child/text", status: 200, response: "child" }],
  [() => request("/throws"), "for Kim Minji", { call: "GET /throws", status: 500, failed: "TypeError" }],
  [() => request("/valid", {}, '{"name":"a"}'), "a", { call: "POST /valid", status: 200, response: "a" }],
  [
    () => request("/valid", {}, "{}"),
    "not valid",
    { call: "POST /valid", status: 422, failed: "ValidationError" },
  ],
  [
    () => request("/reads-itself", {}, '{"x":1}'),
    '{"x":1}',
    { call: "POST /reads-itself", status: 200, response: '{"x":1}' },
  ],
] as const)
  test(`a route with a description is recorded after its answer: ${metadata.call} with ${metadata.status}`, async () => {
    const { recorded } = audited();
    assert.deepEqual(await recorded(asked()), { text, metadata, events: 1 });
  });

test("a route whose description returns nothing records nothing", async () => {
  const { app, client, recorded } = audited();
  await app.handle(request("/silent"));
  assert.equal((await recorded(request("/text"))).events, 1);
  assert.deepEqual(client.stats.dropped, {});
});

test("an error thrown by a description does not reach the client: the event counts as dropped", async () => {
  const client = createTestClient({ onProblem: () => {} });
  const app = new Elysia().use(audit(client)).get("/", () => "answer", {
    audit: () => {
      throw new Error("of the program");
    },
  });
  assert.equal(await (await app.handle(request("/"))).text(), "answer");
  await until("it was counted", () => client.stats.dropped.invalid === 1);
});

test("the types check a description against the event types", () => {
  const app = new Elysia().use(audit(createTestClient<"custom.scored">()));
  app.get("/", () => 1, { audit: () => ({ asset_id: "credit_model", event_type: "custom.scored" }) });
  // @ts-expect-error: no such event type.
  app.get("/", () => 1, { audit: () => ({ asset_id: "credit_model", event_type: "ai_inferrence" }) });
  // @ts-expect-error: whose event it is has to be said.
  app.get("/", () => 1, { audit: () => ({ event_type: "ai_inference" }) });
});

test("two clients in one app keep their requests separate", async () => {
  const [one, two] = [createTestClient(), createTestClient()];
  const app = new Elysia()
    .use(new Elysia().use(audit(one)).get("/one", () => 1, { audit: () => inference }))
    .use(new Elysia().use(audit(two)).get("/two", () => 2, { audit: () => inference }));
  await app.handle(request("/two"));
  await until("it is recorded", () => two.events.length === 1);
  assert.equal(one.events.length, 0);
});
