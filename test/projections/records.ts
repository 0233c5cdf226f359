/** Records as the log would hold them, for tests of projections. */
import type { StoredMessage } from "../../src/log/event-log.ts";
import { encodeRecord } from "../../src/log/record.ts";
import { auditSubject } from "../../streams/subjects.ts";

export interface RecordParts {
  readonly tenant?: string;
  readonly receivedAt?: string;
  readonly requestId?: string;
  /** JSON text, or an object that is written as JSON text. */
  readonly event: string | object;
}

export const messageOf = (sequence: number, parts: RecordParts): StoredMessage => ({
  sequence,
  subject: auditSubject(parts.tenant ?? "acme", "credit_model", "decision.automated_decision_made"),
  payload: new TextEncoder().encode(
    encodeRecord({
      tenant: parts.tenant ?? "acme",
      receivedAt: parts.receivedAt ?? "2026-11-20T10:00:00.000Z",
      requestId: parts.requestId ?? "0198c0de-0000-7000-8000-000000000000",
      eventText: typeof parts.event === "string" ? parts.event : JSON.stringify(parts.event),
    }),
  ),
});

/** A message in the log that no version of the program wrote. */
export const poisonMessage = (sequence: number, text = "no record"): StoredMessage => ({
  sequence,
  subject: "audit.acme.x.y.z",
  payload: new TextEncoder().encode(text),
});

export const simpleEvent = (id: string, change: object = {}): object => ({
  event_id: id,
  timestamp: "2026-11-20T09:59:59Z",
  asset_id: "credit_model",
  event_type: "decision.automated_decision_made",
  ...change,
});
