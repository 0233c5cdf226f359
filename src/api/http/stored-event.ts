/** The JSON form of a stored event in all answers. */
import type { Warner } from "../../event/warnings.ts";
import type { StoredEvent } from "../../views/events/queries.ts";

/** The event's text is inserted as it was sent. */
export const storedEventText = ({ sequence, tenant, receivedAt, eventText }: StoredEvent): string =>
  `{"sequence":${sequence},"tenant":"${tenant}","received_at":"${receivedAt}","event":${eventText}}`;

/** With what its sender was warned of, as the service of today would: warnings are not stored. */
export const warnedEventText = (stored: StoredEvent, warn: Warner): string => {
  const text = storedEventText(stored);
  const warnings = warn(JSON.parse(stored.eventText), Date.parse(stored.receivedAt));
  return warnings.length === 0 ? text : `${text.slice(0, -1)},"warnings":${JSON.stringify(warnings)}}`;
};

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
