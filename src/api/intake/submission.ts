import type { RateDecision } from "../../access/rate-limit.ts";
import type { AuditEvent } from "../../event/audit-event.ts";
import type { EventValidator } from "../../event/validate.ts";
import type { AcceptedCounts } from "../../log/accepted-counts.ts";
import type { LogReader, RecordAppender } from "../../log/event-log.ts";
import type { EarlierEvents } from "./earlier-events.ts";

/** The body of one request, and whose it is. */
export interface Submission {
  readonly tenant: string;
  readonly requestId: string;
  readonly body: Uint8Array;
  /** The sender says that the events may have been sent before, however long ago. */
  readonly isResent: boolean;
  /** Called with the number of events, before anything is stored. */
  readonly admit: (events: number) => RateDecision | Promise<RateDecision>;
  /** Called after a wait, before anything is stored: the key may have ended meanwhile. */
  readonly isStillAllowed: () => boolean;
}

export interface IntakeDependencies {
  readonly appender: RecordAppender;
  readonly reader: LogReader;
  readonly earlier: EarlierEvents;
  readonly validate: EventValidator;
  readonly subjectOf: (tenant: string, event: AuditEvent) => string;
  readonly now: () => Date;
  /** Called with what was stored and will be acknowledged. */
  readonly onAccepted: AcceptedCounts["add"];
  /** Called with the number of unknown members that were kept, for a metric. */
  readonly onUnknownFields: (count: number) => void;
}
