import type { CaptureEvent } from "prooftrail/sdk";

/** An event that the service takes; what is given takes the place of its members. */
export const event = (members: Partial<CaptureEvent> = {}): CaptureEvent =>
  ({ asset_id: "credit_model", event_type: "decision.automated_decision_made", ...members }) as CaptureEvent;

/** Nobody listens there. */
export const NOWHERE = "http://127.0.0.1:9";
