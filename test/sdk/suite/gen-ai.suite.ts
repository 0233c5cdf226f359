/** What OpenTelemetry knows about a call to a model becomes an event, without any content. With the real OpenTelemetry SDK. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SpanStatusCode } from "@opentelemetry/api";
import { BasicTracerProvider, type SpanProcessor } from "@opentelemetry/sdk-trace-base";
import fc from "fast-check";
import {
  createGenAiSpanProcessor,
  createTestClient,
  eventFromGenAiSpan,
  type GenAiSpanProcessorOptions,
  metadataFromGenAi,
} from "prooftrail-sdk";

/** Attributes of each form, an example value, and its copy in metadata. */
const MAPPED = [
  ["gen_ai.response.model", "gpt-4-0613", "model"],
  ["gen_ai.request.model", "gpt-4", "request_model"],
  ["gen_ai.usage.input_tokens", 100, "tokens_in"],
  ["gen_ai.usage.output_tokens", 180, "tokens_out"],
  ["gen_ai.usage.reasoning.output_tokens", 0, "tokens_out_reasoning"],
  ["gen_ai.operation.name", "chat", "operation"],
  ["gen_ai.provider.name", "openai", "provider"],
  ["gen_ai.request.temperature", 0, "temperature"],
  ["gen_ai.request.seed", 42, "seed"],
  ["gen_ai.request.stream", false, "is_streamed"],
  ["gen_ai.response.finish_reasons", ["stop", "length"], "finish_reasons"],
  ["gen_ai.agent.name", "Math Tutor", "agent_name"],
  ["server.port", 443, "server_port"],
  ["error.type", "timeout", "error_type"],
] as const;

/** Names from before semantic conventions 1.37, and their current names. */
const OLD = [
  ["gen_ai.system", "gen_ai.provider.name"],
  ["gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens"],
  ["gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens"],
  ["gen_ai.openai.request.seed", "gen_ai.request.seed"],
] as const;

/** The texts of people and models, in today's and in older conventions and libraries. */
const CONTENT = [
  "gen_ai.input.messages",
  "gen_ai.system_instructions",
  "gen_ai.prompt",
  "gen_ai.completion.0.content",
  "gen_ai.tool.call.arguments",
  "gen_ai.retrieval.documents",
  "exception.message",
  "input.value",
  "traceloop.entity.input",
  "user.id",
  "enduser.id",
] as const;

const ALL = Object.fromEntries(MAPPED.map(([name, value]) => [name, value]));
const EXPECTED = { ...Object.fromEntries(MAPPED.map(([, value, key]) => [key, value])), error: true };

test("an attribute of the conventions that describes a call to a model has its key in metadata", () => {
  assert.deepEqual(metadataFromGenAi(ALL), EXPECTED);
});

test("if the answering model is unknown, the requested model is used", () => {
  assert.deepEqual(metadataFromGenAi({ "gen_ai.request.model": "gpt-4" }), {
    model: "gpt-4",
    request_model: "gpt-4",
  });
});

for (const [old, current] of OLD)
  test(`the old name ${old} is used if the current one is absent`, () => {
    const value = ALL[current];
    assert.deepEqual(metadataFromGenAi({ [old]: value }), metadataFromGenAi({ [current]: value }));
    assert.deepEqual(
      metadataFromGenAi({ [old]: 1, [current]: value }),
      metadataFromGenAi({ [current]: value }),
    );
  });

const SECRET = "Kim Minji, 900101-2345678";

for (const name of CONTENT)
  test(`${name} is never copied`, () => {
    for (const value of [SECRET, [SECRET], JSON.stringify([{ role: "user", content: SECRET }])])
      assert.deepEqual(metadataFromGenAi({ ...ALL, [name]: value }), EXPECTED);
  });

const known = new Set<string>([...MAPPED.map(([name]) => name), ...OLD.map(([name]) => name)]);

/** Names that look like ours but are not. */
const unknownName = fc
  .oneof(
    fc.string(),
    fc
      .constantFrom(...known)
      .chain((name) =>
        fc.constantFrom(`${name}s`, `${name}.text`, name.replace("gen_ai", "genai"), name.toUpperCase()),
      ),
    fc.stringMatching(/^gen_ai(\.[a-z_]{1,12}){1,4}$/),
  )
  .filter((name) => !known.has(name));

test("an unknown attribute is never copied, whatever its name and value", () => {
  fc.assert(
    fc.property(fc.dictionary(unknownName, fc.anything()), (attributes) => {
      assert.deepEqual(metadataFromGenAi(attributes), {});
      assert.deepEqual(metadataFromGenAi({ ...attributes, ...ALL }), EXPECTED);
    }),
  );
});

test("a known attribute is copied unchanged or not at all: a value of another type might be content", () => {
  fc.assert(
    fc.property(fc.constantFrom(...MAPPED), fc.anything(), ([name, example, key], value) => {
      const metadata = metadataFromGenAi({ [name]: value });
      const isTaken = key in metadata;
      if (isTaken) {
        assert.deepEqual(metadata[key], value);
        assert.equal(typeof value, typeof example);
        assert.equal(Array.isArray(value), Array.isArray(example));
      } else assert.deepEqual(metadata, {});
    }),
  );
  assert.deepEqual(metadataFromGenAi({ "gen_ai.response.finish_reasons": ["stop", { text: SECRET }] }), {});
  assert.deepEqual(
    metadataFromGenAi({ "gen_ai.usage.input_tokens": -1, "gen_ai.usage.output_tokens": 1.5 }),
    {},
  );
});

const traced = (options: GenAiSpanProcessorOptions) => {
  const client = createTestClient();
  const processor = createGenAiSpanProcessor(client, options);
  // Typed as the SDK's own interface: it accepts any object of the same structure.
  const spanProcessors: SpanProcessor[] = [processor];
  const provider = new BasicTracerProvider({ spanProcessors });
  return { client, provider, tracer: provider.getTracer("suite") };
};

test("a span of a call to a model becomes an event with its trace, end time and duration", async () => {
  const { client, provider, tracer } = traced({ asset_id: "support_bot" });
  const startMs = Date.UTC(2026, 10, 20, 10);
  const span = tracer.startSpan(`chat ${SECRET}`, { startTime: startMs, attributes: { "http.route": "/" } });
  span.setAttributes({ "gen_ai.operation.name": "chat", "gen_ai.response.model": "gpt-4-0613" });
  span.setAttribute("gen_ai.input.messages", SECRET);
  span.addEvent("gen_ai.content.prompt", { "gen_ai.prompt": SECRET });
  span.recordException(new Error(SECRET));
  span.setStatus({ code: SpanStatusCode.ERROR, message: SECRET });
  span.end(startMs + 1234.5);
  await provider.shutdown();
  const [event, ...more] = client.events;
  assert.ok(event && more.length === 0);
  const { traceId, spanId } = span.spanContext();
  const { event_id, metadata, ...members } = event;
  assert.deepEqual(members, {
    asset_id: "support_bot",
    event_type: "ai_inference",
    timestamp: "2026-11-20T10:00:01.234Z",
    trace_id: traceId,
    span_id: spanId,
  });
  const { source_id, source_sequence, ...said } = { ...(metadata as Record<string, unknown>) };
  assert.deepEqual(said, { model: "gpt-4-0613", operation: "chat", error: true, duration_ms: 1235 });
  assert.ok(event_id && source_id && source_sequence === 1);
  assert.ok(!JSON.stringify(event).includes("Minji"));
});

test("other spans are ignored, and a callback may choose the asset from the span", () => {
  const { client, tracer } = traced({
    asset_id: ({ attributes }) => (attributes["gen_ai.agent.name"] === "tutor" ? "tutor_bot" : undefined),
  });
  tracer.startSpan("GET /", { attributes: { "server.address": "example.com" } }).end();
  tracer.startSpan("chat", { attributes: { "gen_ai.system": "openai" } }).end();
  tracer
    .startSpan("chat", { attributes: { "gen_ai.provider.name": "openai", "gen_ai.agent.name": "tutor" } })
    .end();
  assert.deepEqual(
    client.events.map(({ asset_id }) => asset_id),
    ["tutor_bot"],
  );
});

test("an error of the callback, or a span without times, reaches no caller: the events count as dropped", () => {
  const { client, tracer } = traced({
    asset_id: () => {
      throw new Error("of the program");
    },
  });
  tracer.startSpan("chat", { attributes: { "gen_ai.operation.name": "chat" } }).end();
  assert.deepEqual([client.events.length, client.stats.dropped], [0, { invalid: 1 }]);
  const event = eventFromGenAiSpan({
    startTime: [0, 0],
    endTime: [Number.NaN, 0],
    attributes: {},
    status: { code: 0 },
    spanContext: () => ({ traceId: "0".repeat(32), spanId: "0".repeat(16) }),
  });
  assert.ok(!("trace_id" in event || "span_id" in event));
  assert.equal(client.with({ asset_id: "a" }).capture(event).kind, "dropped");
});
