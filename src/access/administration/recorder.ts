/**
 * Writes administrative actions to the log before they are done, as ordinary records of the tenant SYSTEM_TENANT. So an action without its event
 * is impossible, and an event without its action is marked.
 */

import type { AcceptedCounts } from "../../log/accepted-counts.ts";
import type { RecordAppender } from "../../log/event-log.ts";
import type { Outcome } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ActionRecorder, ActionResult, Actor } from "../action.ts";
import { SYSTEM_TENANT } from "../tenant.ts";
import { createFailureMarks, type FailureMarks, isStored } from "./failure-marks.ts";
import type { Action, SystemEvent } from "./system-events.ts";
import { createSystemRecord, type SystemRecord } from "./system-record.ts";

interface RecorderDependencies {
  readonly appender: RecordAppender;
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
  const { appender, subjectOf, now, newId, onAccepted, onAction, pause, logger } = dependencies;

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
