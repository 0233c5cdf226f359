/** An event captured while an OpenTelemetry span is active belongs to that span; with the real API, which the SDK does not import. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { context, INVALID_SPAN_CONTEXT, type SpanContext, TraceFlags, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { createTestClient } from "prooftrail-sdk";

const SPAN: SpanContext = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  traceFlags: TraceFlags.SAMPLED,
};
const IDS = { trace_id: SPAN.traceId, span_id: SPAN.spanId };

before(() => assert.ok(context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())));
after(() => context.disable());

const within = <Result>(span: SpanContext, run: () => Result): Result =>
  context.with(trace.setSpanContext(context.active(), span), run);

/** Trace and span of the captured event, for the members given to it. */
const idsOf = (given: { readonly trace_id?: string; readonly span_id?: string } = {}) => {
  const client = createTestClient();
  client.capture({ asset_id: "credit_model", event_type: "ai_inference", ...given });
  const [event] = client.events;
  assert.ok(event);
  return Object.fromEntries(Object.entries(event).filter(([name]) => name in IDS));
};

test("an event captured in a span has its trace and span, even after an await", async () => {
  assert.deepEqual(
    within(SPAN, () => idsOf()),
    IDS,
  );
  const later = within(SPAN, async () => {
    await new Promise((done) => setTimeout(done, 1));
    return idsOf();
  });
  assert.deepEqual(idsOf(), {});
  assert.deepEqual(await later, IDS);
});

test("a trace that the program names wins, and the span of another trace is not added to it", () => {
  assert.deepEqual(
    within(SPAN, () => idsOf({ trace_id: "mine" })),
    { trace_id: "mine" },
  );
  assert.deepEqual(
    within(SPAN, () => idsOf({ span_id: "mine" })),
    { ...IDS, span_id: "mine" },
  );
});

test("a span that records nothing, because its trace is invalid, adds neither", () => {
  assert.deepEqual(
    within(INVALID_SPAN_CONTEXT, () => idsOf()),
    {},
  );
});
