import type { RateDecision } from "../access/rate-limit.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import type { EventValidator } from "../event/validate.ts";
import type { AcceptedCounts } from "../log/accepted-counts.ts";
import type { LogReader, RecordAppender } from "../log/event-log.ts";
import type { EarlierEvents } from "./earlier-events.ts";

/** One request's worth of bytes, and whose it is. */
export interface Submission {
  readonly tenant: string;
  readonly requestId: string;
  readonly body: Uint8Array;
  /** Its events may have been sent before, however long ago. */
  readonly isResent: boolean;
  /** Asked with the number of events, before anything is stored. */
  readonly admit: (events: number) => RateDecision | Promise<RateDecision>;
  /** Asked where something was waited for, before anything is stored: who sends may have lost the key meanwhile. */
  readonly isStillAllowed: () => boolean;
}

export interface IntakeDependencies {
  readonly appender: RecordAppender;
  readonly reader: LogReader;
  readonly earlier: EarlierEvents;
  readonly validate: EventValidator;
  readonly subjectOf: (tenant: string, event: AuditEvent) => string;
  readonly now: () => Date;
  /** Told what was stored now and will be acknowledged. */
  readonly onAccepted: AcceptedCounts["add"];
  /** Told how many unknown members were kept, for a metric. */
  readonly onUnknownFields: (count: number) => void;
}
