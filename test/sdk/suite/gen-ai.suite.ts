/** What OpenTelemetry knows of a call to a model becomes an event, without a word of what was said. With the real OpenTelemetry SDK. */
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
} from "prooftrail/sdk";

/** Attribute, a value of it, and what stands in metadata. */
const MAPPED = [
  ["gen_ai.response.model", "gpt-4-0613", "model"],
  ["gen_ai.request.model", "gpt-4", "request_model"],
  ["gen_ai.usage.input_tokens", 100, "tokens_in"],
  ["gen_ai.usage.output_tokens", 180, "tokens_out"],
  ["gen_ai.usage.cache_read.input_tokens", 50, "tokens_in_cache_read"],
  ["gen_ai.usage.cache_creation.input_tokens", 25, "tokens_in_cache_creation"],
  ["gen_ai.usage.reasoning.output_tokens", 0, "tokens_out_reasoning"],
  ["gen_ai.operation.name", "chat", "operation"],
  ["gen_ai.provider.name", "openai", "provider"],
  ["gen_ai.request.temperature", 0, "temperature"],
  ["gen_ai.request.top_p", 0.9, "top_p"],
  ["gen_ai.request.top_k", 1.5, "top_k"],
  ["gen_ai.request.max_tokens", 100, "max_tokens"],
  ["gen_ai.request.frequency_penalty", -0.1, "frequency_penalty"],
  ["gen_ai.request.presence_penalty", 0.1, "presence_penalty"],
  ["gen_ai.request.seed", 42, "seed"],
  ["gen_ai.request.choice.count", 3, "choice_count"],
  ["gen_ai.request.stream", false, "is_streamed"],
  ["gen_ai.output.type", "json", "output_type"],
  ["gen_ai.response.id", "chatcmpl-123", "response_id"],
  ["gen_ai.response.finish_reasons", ["stop", "length"], "finish_reasons"],
  ["gen_ai.conversation.id", "conv_5j66", "conversation_id"],
  ["gen_ai.agent.id", "asst_5j66", "agent_id"],
  ["gen_ai.agent.name", "Math Tutor", "agent_name"],
  ["gen_ai.agent.version", "1.0.0", "agent_version"],
  ["gen_ai.workflow.name", "support_pipeline", "workflow_name"],
  ["gen_ai.tool.name", "get_weather", "tool_name"],
  ["gen_ai.tool.type", "function", "tool_type"],
  ["gen_ai.tool.call.id", "call_VSPy", "tool_call_id"],
  ["gen_ai.data_source.id", "H7STPQYOND", "data_source_id"],
  ["server.address", "api.example.com", "server_address"],
  ["server.port", 443, "server_port"],
  ["error.type", "timeout", "error_type"],
] as const;

/** Names of before semantic conventions 1.37, and what they are called since. */
const OLD = [
  ["gen_ai.system", "gen_ai.provider.name"],
  ["gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens"],
  ["gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens"],
  ["gen_ai.openai.request.seed", "gen_ai.request.seed"],
] as const;

/** What people wrote and models answered, today and in older conventions and libraries. */
const CONTENT = [
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
  "gen_ai.prompt",
  "gen_ai.completion",
  "gen_ai.prompt.0.content",
  "gen_ai.completion.0.content",
  "gen_ai.content.prompt",
  "gen_ai.content.completion",
  "gen_ai.prompt.name",
  "gen_ai.request.stop_sequences",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
  "gen_ai.tool.description",
  "gen_ai.tool.definitions",
  "gen_ai.agent.description",
  "gen_ai.memory.query.text",
  "gen_ai.memory.records",
  "gen_ai.retrieval.query.text",
  "gen_ai.retrieval.documents",
  "gen_ai.evaluation.explanation",
  "exception.message",
  "exception.stacktrace",
  "input.value",
  "output.value",
  "llm.input_messages",
  "traceloop.entity.input",
  "user.id",
  "enduser.id",
] as const;

const ALL = Object.fromEntries(MAPPED.map(([name, value]) => [name, value]));
const EXPECTED = { ...Object.fromEntries(MAPPED.map(([, value, key]) => [key, value])), error: true };

test("every attribute of the conventions that says how a model was called has its key in metadata", () => {
  assert.deepEqual(metadataFromGenAi(ALL), EXPECTED);
});

test("where the model that answered is not known, the one that was asked for stands for it", () => {
  assert.deepEqual(metadataFromGenAi({ "gen_ai.request.model": "gpt-4" }), {
    model: "gpt-4",
    request_model: "gpt-4",
  });
});

for (const [old, current] of OLD)
  test(`the old name ${old} counts where the current one is not there`, () => {
    const value = ALL[current];
    assert.deepEqual(metadataFromGenAi({ [old]: value }), metadataFromGenAi({ [current]: value }));
    assert.deepEqual(
      metadataFromGenAi({ [old]: 1, [current]: value }),
      metadataFromGenAi({ [current]: value }),
    );
  });

const SECRET = "Kim Minji, 900101-2345678";

for (const name of CONTENT)
  test(`${name} never comes through`, () => {
    for (const value of [SECRET, [SECRET], JSON.stringify([{ role: "user", content: SECRET }])])
      assert.deepEqual(metadataFromGenAi({ ...ALL, [name]: value }), EXPECTED);
  });

const known = new Set<string>([...MAPPED.map(([name]) => name), ...OLD.map(([name]) => name)]);

/** Names that look like ours and are not. */
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

test("an attribute that is not known never comes through, whatever its name and value", () => {
  fc.assert(
    fc.property(fc.dictionary(unknownName, fc.anything()), (attributes) => {
      assert.deepEqual(metadataFromGenAi(attributes), {});
      assert.deepEqual(metadataFromGenAi({ ...attributes, ...ALL }), EXPECTED);
    }),
  );
});

test("a known attribute comes through as it is, or not at all: a value of another kind might be content", () => {
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
  // As the SDK's own interface: what is built after its structure is what it takes.
  const spanProcessors: SpanProcessor[] = [processor];
  const provider = new BasicTracerProvider({ spanProcessors });
  return { client, provider, tracer: provider.getTracer("suite") };
};

test("a span of a call to a model becomes an event under its trace, at its end and with its duration", async () => {
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

test("spans of other things are left alone, and which system a span belongs to may be told by the span", () => {
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

test("a fault of the callback, and a span without times, reach nobody: the events count as dropped", () => {
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

test("what keeps a span from being read is told as a fault of that, and not of the asset_id beside it", () => {
  const messages: string[] = [];
  const client = createTestClient({
    onDropped: ({ message }) => void messages.push(message),
    onProblem: () => {},
  });
  createGenAiSpanProcessor(client, { asset_id: "support_bot" }).onEnd({
    startTime: [0, 0],
    endTime: [0, 0],
    attributes: { "gen_ai.operation.name": "chat" },
    status: { code: 0 },
    spanContext: () => {
      throw new Error("of another kind");
    },
  });
  assert.deepEqual(messages, ["The span processor threw: of another kind"]);
});
