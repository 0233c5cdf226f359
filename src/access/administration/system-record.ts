/** Makes the log record of a system event. */
import { Buffer } from "node:buffer";
import type { AuditEvent } from "../../event/audit-event.ts";
import { EVENT_ID_PREFIX } from "../../event/formats.ts";
import type { OutgoingRecord } from "../../log/event-log.ts";
import { messageIdOfEvent } from "../../log/message-id.ts";
import { recordStart } from "../../log/record.ts";
import type { Actor } from "../action.ts";
import { SYSTEM_TENANT } from "../tenant.ts";
import type { SystemEvent } from "./system-events.ts";

/** The AI system that such an event is about: this installation. */
const SYSTEM_ASSET_ID = "prooftrail";

/** An outgoing record, with the parts that a failure mark needs. */
export interface SystemRecord {
  readonly eventId: string;
  readonly event: SystemEvent;
  readonly by: Actor;
  readonly receivedAt: string;
  readonly record: OutgoingRecord;
}

export const createSystemRecord = (parts: {
  readonly event: SystemEvent;
  readonly by: Actor;
  readonly now: Date;
  /** A UUIDv7. */
  readonly id: string;
  readonly subjectOf: (tenant: string, event: AuditEvent) => string;
}): SystemRecord => {
  const { event, by, now, id, subjectOf } = parts;
  const { principal, requestId } = by;
  const receivedAt = now.toISOString();
  const eventId = EVENT_ID_PREFIX + id;
  const sent: AuditEvent = {
    event_id: eventId,
    timestamp: receivedAt,
    asset_id: SYSTEM_ASSET_ID,
    event_type: event.type,
    correlation_id: requestId,
    // By it an auditor finds what it looked at.
    ...(event.type === "system.viewed" && { tags: { actor: principal.keyId } }),
    metadata: { tenant: event.tenant, actor: principal.keyId, request_id: requestId, ...event.details },
  };
  const source = Buffer.from(JSON.stringify(sent));
  const record: OutgoingRecord = {
    subject: subjectOf(SYSTEM_TENANT, sent),
    messageId: messageIdOfEvent(SYSTEM_TENANT, eventId),
    start: recordStart({ tenant: SYSTEM_TENANT, receivedAt, requestId }),
    event: { source, from: 0, to: source.length },
  };
  return { eventId, event, by, receivedAt, record };
};
