/** Sends events to `POST /v1/sandbox/events`, which takes one at a time, needs no key and forgets after an hour. */
import type { Deliver, EventOutcome, PlacedWarning } from "./delivery.ts";
import { post, type ServiceAddress, warningsIn } from "./service.ts";

export const SANDBOX_EVENTS_PATH = "/v1/sandbox/events";

const encoder = new TextEncoder();

export const createSandboxDelivery =
  (service: ServiceAddress): Deliver =>
  async ({ events, signal }) => {
    const outcomes: EventOutcome[] = [];
    const warnings: PlacedWarning[] = [];
    let askedMs: number | undefined;
    for (const event of events) {
      const request = { path: SANDBOX_EVENTS_PATH, body: encoder.encode(event), signal };
      const answer = await post(service, request);
      if (answer.kind === "taken") {
        for (const { warning } of warningsIn(answer.data))
          warnings.push({ position: outcomes.length, warning });
        outcomes.push({ kind: "stored" });
      } else if (answer.kind === "rejected" && answer.isOurs)
        outcomes.push({ kind: "rejected", rejection: answer.rejection });
      else if (outcomes.length === 0) return answer;
      // Events with an outcome keep it; the others are sent again from where delivery ended.
      else {
        askedMs = answer.askedMs;
        break;
      }
    }
    const rest = events
      .slice(outcomes.length)
      .map((): EventOutcome => ({ kind: "again", reason: "Not sent yet." }));
    return { kind: "answered", outcomes: [...outcomes, ...rest], duplicates: 0, warnings, askedMs };
  };
