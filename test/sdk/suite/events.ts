import type { CaptureEvent } from "prooftrail-sdk";

/** An event that the service accepts; the given members replace its own. */
export const event = (members: Partial<CaptureEvent> = {}): CaptureEvent =>
  ({ asset_id: "credit_model", event_type: "decision.automated_decision_made", ...members }) as CaptureEvent;

/** Nobody listens on this address. */
export const NOWHERE = "http://127.0.0.1:9";
