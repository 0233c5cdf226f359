/** The JSON form of a stored event in all answers. */
import type { StoredEvent } from "../projections/events/queries.ts";

/** The event's text is inserted as it was sent. */
export const storedEventText = ({ sequence, tenant, receivedAt, eventText }: StoredEvent): string =>
  `{"sequence":${sequence},"tenant":"${tenant}","received_at":"${receivedAt}","event":${eventText}}`;

/** On one line. Raw line breaks cannot stand inside a JSON string (RFC 8259 §7), so only white space between values changes. */
export const storedEventLine = (stored: StoredEvent): string =>
  `${storedEventText({ ...stored, eventText: stored.eventText.replaceAll(/[\r\n]/g, " ") })}\n`;

export const STORED_EVENT_EXAMPLE = {
  sequence: 1,
  tenant: "default",
  received_at: "2026-11-20T10:00:00.512Z",
  event: {
    event_id: "evt_sample_001",
    timestamp: "2026-11-20T10:00:00.000Z",
    asset_id: "credit_model",
    event_type: "decision.automated_decision_made",
  },
};
