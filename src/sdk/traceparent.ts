/** The header `traceparent` of W3C Trace Context (Recommendation, 23 November 2021, §3.2): which trace and span a request came from. */
import type { SpanIds } from "./active-span.ts";

/** Version, trace, parent, flags; a later version may add more (§3.2.4). */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/** Undefined if there is none or an invalid one: such a header counts as absent (§3.2.2). */
export const readTraceparent = (header: string | null): SpanIds | undefined => {
  const [, version, traceId, spanId, more] = TRACEPARENT.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return version === "00" && more !== undefined ? undefined : { traceId, spanId };
};
