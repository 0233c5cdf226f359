/**
 * Writes administrative actions to the log before they are done, as ordinary records of the tenant SYSTEM_TENANT. So an action without its event
 * is impossible, and an event without its action is marked.
 */

import type { AuditEvent } from "../../event/audit-event.ts";
import { EVENT_ID_PREFIX } from "../../event/formats.ts";
import { FAILURE_MARK_TRY_MS, FAILURE_MARKS_WAITING_MAX } from "../../limits.ts";
import type { AcceptedCounts } from "../../log/accepted-counts.ts";
import type { OutgoingRecord, RecordAppender } from "../../log/event-log.ts";
import { messageIdOfEvent } from "../../log/message-id.ts";
import type { Outcome } from "../../log/outcome.ts";
import { recordPayload } from "../../log/payload.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { type ActionRecorder, type ActionResult, type Actor, KeyEndedError } from "../action.ts";
import type { Principal } from "../authenticate.ts";
import { SYSTEM_TENANT } from "../tenant.ts";
import type { Action, SystemEvent } from "./system-events.ts";

interface RecorderDependencies {
  readonly appender: RecordAppender;
  /** Whether the key is still valid. */
  readonly isActive: (principal: Principal) => boolean;
  readonly subjectOf: Parameters<typeof createSystemRecord>[0]["subjectOf"];
  readonly now: () => Date;
  /** A UUIDv7. */
  readonly newId: () => string;
  /** Called for stored records, so that the system tenant's reconciliation balances. */
  readonly onAccepted: AcceptedCounts["add"];
  readonly onAction: (type: Action["type"], outcome: "done" | "refused" | "failed") => void;
  readonly pause: Parameters<typeof createFailureMarks>[0]["pause"];
  readonly logger: Logger;
}

export interface Recorder extends ActionRecorder<Action>, Pick<FailureMarks, "run"> {}

export const createRecorder = (dependencies: RecorderDependencies): Recorder => {
  const { appender, isActive, subjectOf, now, newId, onAccepted, onAction, pause, logger } = dependencies;

  const append = async (records: readonly SystemRecord[]): Promise<readonly Outcome[]> => {
    const outcomes = await appender.append(records.map(({ record }) => record));
    records.forEach(({ receivedAt }, index) => {
      if (isStored(outcomes[index])) onAccepted({ tenant: SYSTEM_TENANT, receivedAt, events: 1 });
    });
    return outcomes;
  };
  const recordOf = (event: SystemEvent, by: Actor): SystemRecord =>
    createSystemRecord({ event, by, now: now(), id: newId(), subjectOf });
  const marks = createFailureMarks({ append, pause, logger });
  const mark = ({ event, eventId, by }: SystemRecord, effect: "none" | "unknown"): void => {
    const details = { failed_event_id: eventId, failed_event_type: event.type, effect };
    marks.add(recordOf({ type: "system.action_failed", tenant: event.tenant, details }, by));
  };

  const carryOut: Recorder["carryOut"] = async ({ by, action, work }) => {
    if (!isActive(by.principal)) throw new KeyEndedError("the key has ended");
    const record = recordOf(action, by);
    const [outcome] = await append([record]);
    if (!isStored(outcome)) {
      // Without an answer the record may still be stored.
      if (outcome?.kind === "unknown") mark(record, "none");
      onAction(action.type, "refused");
      return NOT_RECORDED;
    }
    let result: ActionResult | undefined;
    try {
      result = await work(outcome.sequence);
      return result;
    } finally {
      if (result?.kind !== "written") mark(record, result?.kind === "conflict" ? "none" : "unknown");
      onAction(action.type, result?.kind === "written" ? "done" : "failed");
    }
  };
  return { carryOut, run: marks.run };
};

const NOT_RECORDED: ActionResult = {
  kind: "unavailable",
  detail: "the log did not take the record of it, so nothing was done",
};

/**
 * Events that mark an action as failed. A failure that prevents the action usually prevents its mark too, so marks wait until the log takes
 * them. If the process is killed first, the event of the action has no mark.
 */
interface FailureMarks {
  /** Appended at once if possible, otherwise later. */
  add(mark: SystemRecord): void;
  /** Retries the waiting marks until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const createFailureMarks = (dependencies: {
  readonly append: (records: readonly SystemRecord[]) => Promise<readonly Outcome[]>;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}): FailureMarks => {
  const { append, pause, logger } = dependencies;
  let waiting: readonly SystemRecord[] = [];
  let running: Promise<void> | undefined;

  const appendWaiting = async (): Promise<void> => {
    const tried = waiting;
    const outcomes = await append(tried);
    const stored = new Set(tried.filter((_, index) => isStored(outcomes[index])));
    waiting = waiting.filter((mark) => !stored.has(mark));
  };
  const flush = (): Promise<void> => {
    running ??= appendWaiting().finally(() => {
      running = undefined;
    });
    return running;
  };
  const giveUp = ({ by, event }: SystemRecord): void =>
    logger.error("a failed action is not marked in the log", {
      request_id: by.requestId,
      tenant: event.tenant,
      key_id: by.principal.keyId,
    });

  return {
    add: (mark) => {
      if (waiting.length >= FAILURE_MARKS_WAITING_MAX) return giveUp(mark);
      waiting = [...waiting, mark];
      void flush();
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await pause(FAILURE_MARK_TRY_MS, signal);
        if (waiting.length > 0) await flush();
      }
      await running;
      waiting.forEach(giveUp);
    },
  };
};

/** A duplicate is the same record whose acknowledgement was lost: nobody else has its id. */
const isStored = (outcome: Outcome | undefined): outcome is Extract<Outcome, { readonly sequence: number }> =>
  outcome?.kind === "appended" || outcome?.kind === "duplicate";

/** The AI system that such an event is about: this installation. */
const SYSTEM_ASSET_ID = "prooftrail";

/** An outgoing record, with the parts that a failure mark needs. */
interface SystemRecord {
  readonly eventId: string;
  readonly event: SystemEvent;
  readonly by: Actor;
  readonly receivedAt: string;
  readonly record: OutgoingRecord;
}

const createSystemRecord = (parts: {
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
  const record: OutgoingRecord = {
    tenant: SYSTEM_TENANT,
    subject: subjectOf(SYSTEM_TENANT, sent),
    messageId: messageIdOfEvent(SYSTEM_TENANT, eventId),
    ...recordPayload({ tenant: SYSTEM_TENANT, receivedAt, requestId }, JSON.stringify(sent)),
  };
  return { eventId, event, by, receivedAt, record };
};
