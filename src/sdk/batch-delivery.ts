/** Sends events to `POST /v1/events/batch`. The event texts go into the body unchanged. */
import type { Deliver, Delivery, EventOutcome } from "./delivery.ts";
import { eventCount } from "./event-count.ts";
import { isJsonObject } from "./json-object.ts";
import { post, rejectionOf, type ServiceAddress, warningsIn } from "./service.ts";

const encoder = new TextEncoder();

export const createBatchDelivery =
  (service: ServiceAddress): Deliver =>
  async ({ events, mayBeResent, signal }) => {
    const path = mayBeResent ? "/v1/events/batch?resent=true" : "/v1/events/batch";
    const answer = await post(service, {
      path,
      body: encoder.encode(`{"events":[${events.join(",")}]}`),
      signal,
    });
    return answer.kind === "taken" ? readOutcomes(answer.data, events.length) : answer;
  };

/**
 * Each event has its own outcome (DESIGN 3). An answer counts only if it accounts for all events: an event that it does not mention would otherwise
 * be taken for stored.
 */
const readOutcomes = (data: Readonly<Record<string, unknown>>, sent: number): Delivery => {
  const { accepted, rejected, duplicates, errors } = data;
  const outcomes: EventOutcome[] = Array.from({ length: sent }, () => ({ kind: "stored" }));
  const entries: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const named = new Set<number>();
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue;
    const { index } = entry;
    if (typeof index !== "number" || !(index in outcomes)) continue;
    named.add(index);
    const rejection = rejectionOf(entry);
    outcomes[index] =
      entry.retryable === true
        ? { kind: "again", reason: `${rejection.code}: ${rejection.message}` }
        : { kind: "rejected", rejection };
  }
  const isWhole = typeof accepted === "number" && accepted + named.size === sent && rejected === named.size;
  if (!isWhole) return { kind: "again", reason: `The answer does not account for ${eventCount(sent)}.` };
  return {
    kind: "answered",
    outcomes,
    duplicates: typeof duplicates === "number" ? duplicates : 0,
    warnings: warningsIn(data),
  };
};
