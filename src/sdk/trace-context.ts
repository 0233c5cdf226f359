/**
 * The trace and span of the running code, and of a request. The OpenTelemetry API keeps its registrations under one global symbol per major version
 * (opentelemetry-js, api/src/internal/global-utils.ts) and the span under a registered symbol in the context (trace/context-utils.ts), so reading them
 * needs no dependency.
 */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");
/** The ids of a span that records nothing and belongs to no trace (W3C Trace Context §3.2.2.3). */
export const NO_TRACE = /^0*$/;

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

const member = (value: unknown, name: string | symbol): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const call = (value: unknown, name: string, argument?: unknown): unknown => {
  const method = member(value, name);
  return typeof method === "function" ? Reflect.apply(method, value, [argument]) : undefined;
};

export const activeSpan = (): SpanIds | undefined => {
  const registered: unknown = Reflect.get(globalThis, REGISTERED);
  if (registered === undefined) return undefined;
  const context = call(member(registered, "context"), "active");
  const ids = call(call(context, "getValue", SPAN), "spanContext");
  const [traceId, spanId] = [member(ids, "traceId"), member(ids, "spanId")];
  if (typeof traceId !== "string" || typeof spanId !== "string" || NO_TRACE.test(traceId)) return undefined;
  return { traceId, spanId };
};

/** `traceparent` of W3C Trace Context (§3.2): version, trace, parent, flags; a later version may add more (§3.2.4). */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/** Undefined if there is none or an invalid one: such a header counts as absent (§3.2.2). */
export const readTraceparent = (header: string | null): SpanIds | undefined => {
  const [, version, traceId, spanId, more] = TRACEPARENT.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return version === "00" && more !== undefined ? undefined : { traceId, spanId };
};
