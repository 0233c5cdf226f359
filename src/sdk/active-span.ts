/**
 * Trace and span of the code that runs now, where the program uses OpenTelemetry. Its API keeps what is registered under one global symbol per major
 * version, so that several copies of the package agree (opentelemetry-js, api/src/internal/global-utils.ts), and the span under a registered symbol
 * in the context (trace/context-utils.ts). Reading those two asks for no dependency, and finds nothing where there is none.
 */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");
/** What a span that records nothing, and belongs to no trace, is given (W3C Trace Context §3.2.2.3). */
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
