/**
 * Makes events from spans of model calls that follow OpenTelemetry's conventions for generative AI (semantic-conventions-genai,
 * docs/registry/attributes/gen-ai.md). Only the attributes in the table are used: what people wrote and what a model answered is personal data.
 */
import { attempt } from "./described-event.ts";
import type { EventOf, JsonValue } from "./event.ts";
import type { LooseRecorder, Recorder } from "./recorder.ts";
import { NO_TRACE } from "./trace-context.ts";

/** Members of `metadata` for which the GenAI conventions have attributes. */
export type GenAiMetadata = NonNullable<EventOf<"ai_inference">["metadata"]>;

type Reads = (value: unknown) => JsonValue | undefined;

const text: Reads = (value) => (typeof value === "string" ? value : undefined);
const count: Reads = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
const number: Reads = (value) => (Number.isFinite(value) ? Number(value) : undefined);
const flag: Reads = (value) => (typeof value === "boolean" ? value : undefined);
const texts: Reads = (value) => {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  const read = items.flatMap((item) => text(item) ?? []);
  return read.length === items.length ? read : undefined;
};

/** The key, the form of its value, and attributes, of which the first that is present counts. */
type Source = readonly [key: string, reads: Reads, ...attributes: string[]];

/** First the keys that SPEC 2.1 names, then the others in snake case. `model` is the model that answered; the requested model stands beside it. */
const SOURCES: readonly Source[] = [
  ["model", text, "gen_ai.response.model", "gen_ai.request.model"],
  ["tokens_in", count, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
  ["tokens_out", count, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
  ["tokens_in_cache_read", count, "gen_ai.usage.cache_read.input_tokens"],
  ["tokens_in_cache_creation", count, "gen_ai.usage.cache_creation.input_tokens"],
  ["tokens_out_reasoning", count, "gen_ai.usage.reasoning.output_tokens"],
  ["operation", text, "gen_ai.operation.name"],
  ["provider", text, "gen_ai.provider.name", "gen_ai.system"],
  ["request_model", text, "gen_ai.request.model"],
  ["temperature", number, "gen_ai.request.temperature"],
  ["top_p", number, "gen_ai.request.top_p"],
  ["top_k", number, "gen_ai.request.top_k"],
  ["max_tokens", count, "gen_ai.request.max_tokens"],
  ["frequency_penalty", number, "gen_ai.request.frequency_penalty"],
  ["presence_penalty", number, "gen_ai.request.presence_penalty"],
  ["seed", number, "gen_ai.request.seed", "gen_ai.openai.request.seed"],
  ["choice_count", count, "gen_ai.request.choice.count"],
  ["is_streamed", flag, "gen_ai.request.stream"],
  ["output_type", text, "gen_ai.output.type"],
  ["response_id", text, "gen_ai.response.id"],
  ["finish_reasons", texts, "gen_ai.response.finish_reasons"],
  ["conversation_id", text, "gen_ai.conversation.id"],
  ["agent_id", text, "gen_ai.agent.id"],
  ["agent_name", text, "gen_ai.agent.name"],
  ["agent_version", text, "gen_ai.agent.version"],
  ["workflow_name", text, "gen_ai.workflow.name"],
  ["tool_name", text, "gen_ai.tool.name"],
  ["tool_type", text, "gen_ai.tool.type"],
  ["tool_call_id", text, "gen_ai.tool.call.id"],
  ["data_source_id", text, "gen_ai.data_source.id"],
  ["server_address", text, "server.address"],
  ["server_port", count, "server.port"],
  ["error_type", text, "error.type"],
];

/** The type of OpenTelemetry's `Attributes`. */
export type SpanAttributes = Readonly<Record<string, unknown>>;

/** The attributes in the table. One whose value has another type than the conventions say is left out. */
export const metadataFromGenAi = (attributes: SpanAttributes): GenAiMetadata => {
  const metadata: Record<string, JsonValue> = {};
  for (const [key, reads, ...names] of SOURCES) {
    const value = names.map((name) => reads(attributes[name])).find((read) => read !== undefined);
    if (value !== undefined) metadata[key] = value;
  }
  if (metadata.error_type !== undefined) metadata.error = true;
  return metadata;
};

/** Seconds and nanoseconds since 1970, as OpenTelemetry keeps times. */
type HighResolutionTime = readonly [seconds: number, nanoseconds: number];

/** What is read of an ended span. `ReadableSpan` of @opentelemetry/sdk-trace-base has this type. */
export interface EndedSpan {
  readonly startTime: HighResolutionTime;
  readonly endTime: HighResolutionTime;
  readonly attributes: SpanAttributes;
  /** The text of an error is left out. */
  readonly status: { readonly code: number };
  spanContext(): { readonly traceId: string; readonly spanId: string };
}

/** `SpanStatusCode.ERROR` of @opentelemetry/api. */
const STATUS_ERROR = 2;

const milliseconds = ([seconds, nanoseconds]: HighResolutionTime): number =>
  seconds * 1000 + nanoseconds / 1e6;

/** An `ai_inference` that still lacks its asset. */
export type GenAiEvent = Omit<EventOf<"ai_inference">, "asset_id">;

/** The event of a model call, dated at the end of its span. The name of the span is left out, because it is the program's own text. */
export const eventFromGenAiSpan = (span: EndedSpan): GenAiEvent => {
  const { traceId, spanId } = span.spanContext();
  const endMs = milliseconds(span.endTime);
  return {
    event_type: "ai_inference",
    timestamp: new Date(endMs),
    ...(!NO_TRACE.test(traceId) && { trace_id: traceId, span_id: spanId }),
    metadata: {
      ...metadataFromGenAi(span.attributes),
      ...(span.status.code === STATUS_ERROR && { error: true }),
      duration_ms: Math.round(endMs - milliseconds(span.startTime)),
    },
  };
};

export interface GenAiSpanProcessorOptions {
  /** The asset that a span belongs to. If it returns undefined, nothing is recorded. */
  readonly asset_id: string | ((span: EndedSpan) => string | undefined);
}

/** The type of `SpanProcessor` of @opentelemetry/sdk-trace-base. */
export interface GenAiSpanProcessor {
  onStart(): void;
  onEnd(span: EndedSpan): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Records an event for each span of a call to a model, an agent or a tool. The program closes the client itself. */
export const createGenAiSpanProcessor = (
  recorder: Recorder,
  { asset_id }: GenAiSpanProcessorOptions,
): GenAiSpanProcessor => {
  const loose: LooseRecorder = recorder;
  const done = async () => {};
  return {
    onStart: () => {},
    onEnd: (span) => {
      const event = attempt("The span processor", () => {
        if (!isGenAi(span)) return undefined;
        const asset = typeof asset_id === "function" ? asset_id(span) : asset_id;
        return asset === undefined ? undefined : { asset_id: asset, ...eventFromGenAiSpan(span) };
      });
      if (event !== undefined) loose.capture(event);
    },
    forceFlush: done,
    shutdown: done,
  };
};

const MARKS = ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.system"];

const isGenAi = ({ attributes }: EndedSpan): boolean => MARKS.some((name) => attributes[name] !== undefined);
