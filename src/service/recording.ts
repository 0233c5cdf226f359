/** Runs the recorder of administrative actions. */
import { createRecorder, type Recorder } from "../access/administration/recorder.ts";
import { ACTIONS } from "../access/administration/system-events.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import type { AcceptedCounts } from "../log/accepted-counts.ts";
import type { RecordAppender } from "../log/event-log.ts";
import { uuidV7 } from "../runtime/uuid.ts";
import type { Logger } from "../telemetry/logger.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import { inBackground, pause } from "./background.ts";

export const startRecording = (parts: {
  appender: RecordAppender;
  subjectOf: (tenant: string, event: AuditEvent) => string;
  accepted: AcceptedCounts;
  metrics: Metrics;
  logger: Logger;
  now: () => Date;
  stack: AsyncDisposableStack;
}): Recorder => {
  const { appender, subjectOf, accepted, metrics, logger, now, stack } = parts;
  countFromZero(
    metrics.administrativeActions,
    Object.keys(ACTIONS).flatMap((event_type) =>
      ["done", "refused", "failed"].map((outcome) => ({ event_type, outcome })),
    ),
  );
  const recorder = createRecorder({
    appender,
    subjectOf,
    now,
    newId: uuidV7,
    onAccepted: accepted.add,
    onAction: (event_type, outcome) => metrics.administrativeActions.inc({ event_type, outcome }),
    pause,
    logger,
  });
  stack.use(inBackground(recorder.run));
  return recorder;
};
