/**
 * Writes administrative actions to the log before they are done, as ordinary records of SYSTEM_TENANT. So an action without its event
 * is impossible, and an event without its action is marked.
 */
import type { AuditEvent } from "../../event/audit-event.ts";
import { EVENT_ID_PREFIX } from "../../event/formats.ts";
import { FAILURE_MARK_TRY_MS, FAILURE_MARKS_WAITING_MAX } from "../../limits.ts";
import type { AcceptedCounts } from "../../log/accepted-counts.ts";
import {
  messageIdOfEvent,
  type OutgoingRecord,
  type RecordAppender,
  recordPayload,
} from "../../log/event-log.ts";
import type { Outcome } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { type ActionRecorder, type ActionResult, type Actor, KeyEndedError } from "../action.ts";
import type { Principal } from "../authenticate.ts";
import { SYSTEM_TENANT } from "../tenant.ts";
import type { Action, SystemEvent } from "./system-events.ts";

interface Dependencies {
  readonly appender: RecordAppender;
  readonly isActive: (principal: Principal) => boolean;
  readonly subjectOf: (tenant: string, assetId: string, eventType: string) => string;
  readonly now: () => Date;
  readonly newId: () => string;
  /** Called for stored records, so that the system tenant's reconciliation balances. */
  readonly onAccepted: AcceptedCounts["add"];
  readonly onAction: (type: Action["type"], outcome: "done" | "refused" | "failed") => void;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}

export interface Recorder extends ActionRecorder<Action> {
  /** Retries the waiting marks of failed actions until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export const createRecorder = (dependencies: Dependencies): Recorder => {
  const { appender, isActive, onAccepted, onAction, pause, logger } = dependencies;

  const append = async (records: readonly SystemRecord[]): Promise<readonly Outcome[]> => {
    const outcomes = await appender.append(records.map(({ record }) => record));
    records.forEach(({ receivedAt }, index) => {
      if (isStored(outcomes[index])) onAccepted({ tenant: SYSTEM_TENANT, receivedAt, events: 1 });
    });
    return outcomes;
  };

  // A failure that prevents an action usually prevents its mark too, so marks wait until the log takes them. If the process is killed first, the
  // event of the action has no mark.
  let waiting: readonly SystemRecord[] = [];
  let flushing: Promise<void> | undefined;
  const appendWaiting = async (): Promise<void> => {
    const tried = waiting;
    const outcomes = await append(tried);
    const stored = new Set(tried.filter((_, index) => isStored(outcomes[index])));
    waiting = waiting.filter((each) => !stored.has(each));
  };
  const flush = (): Promise<void> => {
    flushing ??= appendWaiting().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };
  const giveUp = ({ by, event }: SystemRecord): void =>
    logger.error("a failed action is not marked in the log", {
      request_id: by.requestId,
      tenant: event.tenant,
      key_id: by.principal.keyId,
    });
  const mark = ({ event, eventId, by }: SystemRecord, effect: "none" | "unknown"): void => {
    const details = { failed_event_id: eventId, failed_event_type: event.type, effect };
    const failed: SystemEvent = { type: "system.action_failed", tenant: event.tenant, details };
    const record = systemRecord(failed, by, dependencies);
    if (waiting.length >= FAILURE_MARKS_WAITING_MAX) giveUp(record);
    else {
      waiting = [...waiting, record];
      void flush();
    }
  };

  return {
    carryOut: async ({ by, action, work }) => {
      if (!isActive(by.principal)) throw new KeyEndedError("the key has ended");
      const record = systemRecord(action, by, dependencies);
      const [outcome] = await append([record]);
      if (!isStored(outcome)) {
        // Without an answer the record may be stored.
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
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await pause(FAILURE_MARK_TRY_MS, signal);
        if (waiting.length > 0) await flush();
      }
      await flushing;
      waiting.forEach(giveUp);
    },
  };
};

const NOT_RECORDED: ActionResult = {
  kind: "unavailable",
  detail: "the log did not accept its record, so nothing was done",
};

/** A duplicate is the same record, whose acknowledgement was lost: its id is unique. */
const isStored = (outcome: Outcome | undefined): outcome is Extract<Outcome, { readonly sequence: number }> =>
  outcome?.kind === "appended" || outcome?.kind === "duplicate";

/** The AI system that such an event is about: this installation. */
const SYSTEM_ASSET_ID = "prooftrail";

interface SystemRecord {
  readonly eventId: string;
  readonly event: SystemEvent;
  readonly by: Actor;
  readonly receivedAt: string;
  readonly record: OutgoingRecord;
}

const systemRecord = (
  event: SystemEvent,
  by: Actor,
  { now, newId, subjectOf }: Pick<Dependencies, "now" | "newId" | "subjectOf">,
): SystemRecord => {
  const { principal, requestId } = by;
  const receivedAt = now().toISOString();
  const eventId = EVENT_ID_PREFIX + newId();
  const sent: AuditEvent = {
    event_id: eventId,
    timestamp: receivedAt,
    asset_id: SYSTEM_ASSET_ID,
    event_type: event.type,
    correlation_id: requestId,
    // Lets an auditor find what it looked at.
    ...(event.type === "system.viewed" && { tags: { actor: principal.keyId } }),
    metadata: { tenant: event.tenant, actor: principal.keyId, request_id: requestId, ...event.details },
  };
  const record: OutgoingRecord = {
    tenant: SYSTEM_TENANT,
    subject: subjectOf(SYSTEM_TENANT, sent.asset_id, sent.event_type),
    messageId: messageIdOfEvent(SYSTEM_TENANT, eventId),
    ...recordPayload({ tenant: SYSTEM_TENANT, receivedAt, requestId }, JSON.stringify(sent)),
  };
  return { eventId, event, by, receivedAt, record };
};
