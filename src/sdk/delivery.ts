/** Sends events from an outbox to the service, or to its sandbox, and says what became of each. */
import { eventCount } from "./reports.ts";
import {
  type PlacedWarning,
  post,
  type Refusal,
  type Rejection,
  rejectionOf,
  SANDBOX_EVENTS_PATH,
  type ServiceAddress,
  warningsIn,
} from "./service.ts";
import { isJsonObject, type JsonObject } from "./values.ts";

export type EventOutcome =
  | { readonly kind: "stored" }
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /** Not stored, or not known to be stored: sending it again can help. */
  | { readonly kind: "again"; readonly reason: string };

/** Outcomes by position. `askedMs`: the service asked to send nothing for that time. */
export interface Answered {
  readonly kind: "answered";
  readonly outcomes: readonly EventOutcome[];
  readonly duplicates: number;
  readonly warnings: readonly PlacedWarning[];
  readonly askedMs?: number | undefined;
}

export type Delivery = Answered | Refusal;

/** `events` are JSON texts. `mayBeResent`: one of them may have been sent longer ago than the broker remembers. */
export type Deliver = (request: {
  readonly events: readonly string[];
  readonly mayBeResent: boolean;
  readonly signal: AbortSignal;
}) => Promise<Delivery>;

const encoder = new TextEncoder();

/** `POST /v1/events/batch`, or for the sandbox `POST /v1/sandbox/events`, which takes one event at a time. The event texts go into the body unchanged. */
export const createDelivery =
  (service: ServiceAddress): Deliver =>
  async ({ events, mayBeResent, signal }) => {
    if (service.apiKey === undefined) {
      const body = encoder.encode(events[0]);
      const answer = await post(service, { path: SANDBOX_EVENTS_PATH, body, signal });
      if (answer.kind !== "taken") return answer;
      const warnings = warningsIn(answer.data).map(({ warning }) => ({ position: 0, warning }));
      return { kind: "answered", outcomes: [{ kind: "stored" }], duplicates: 0, warnings };
    }
    const path = mayBeResent ? "/v1/events/batch?resent=true" : "/v1/events/batch";
    const body = encoder.encode(`{"events":[${events.join(",")}]}`);
    const answer = await post(service, { path, body, signal });
    return answer.kind === "taken" ? readOutcomes(answer.data, events.length) : answer;
  };

/** An answer counts only if it accounts for all events: one that it does not mention would otherwise be taken for stored. */
const readOutcomes = (data: JsonObject, sent: number): Delivery => {
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
  if (accepted !== sent - named.size || rejected !== named.size)
    return { kind: "again", reason: `The answer does not account for ${eventCount(sent)}.` };
  return {
    kind: "answered",
    outcomes,
    duplicates: typeof duplicates === "number" ? duplicates : 0,
    warnings: warningsIn(data),
  };
};
