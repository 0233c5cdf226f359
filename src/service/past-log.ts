/**
 * Writes a log with times of reception in the past, for `prooftrail demo`. A running service cannot do that, whoever asks: this is a start of its own, of
 * a broker and an intake without HTTP.
 */
import { auditSubject } from "../../streams/subjects.ts";
import { createIntake } from "../api/intake/intake.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import { createEventValidator } from "../event/validate.ts";
import { createAcceptedCounter } from "../nats/accepted-counter.ts";
import { createAppender } from "../nats/appender.ts";
import { createLogReader } from "../nats/reader.ts";
import { uuidV7 } from "../runtime/uuid.ts";
import { createLogger } from "../telemetry/logger.ts";
import { contactBroker, provideBroker } from "./broker.ts";
import type { Config } from "./config.ts";
import { openFolders } from "./data-folder.ts";
import { NO_EARLIER_EVENTS } from "./earlier-events.ts";

interface PastEvent {
  readonly receivedAt: Date;
  readonly event: AuditEvent;
}

/** Appended and synced together. The log therefore always holds a first part of the events, and a start after an interruption writes the rest. */
const EVENTS_AT_ONCE = 500;

interface Past {
  readonly config: Config;
  readonly tenant: string;
  readonly events: readonly PastEvent[];
}

/** The log must hold nothing but a first part of these events. Throws RefusedError if there is no broker, or the folder cannot be used. */
export const writePast = async ({ config, tenant, events }: Past): Promise<void> => {
  const logger = createLogger({ level: config.logLevel, pretty: false });
  await openFolders(config);
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await provideBroker({ config, logger }));
  const contact = stack.use(await contactBroker({ config, logger, broker, now: () => new Date() }));
  const { connection } = contact;
  const reader = await createLogReader(connection);
  const accepted = createAcceptedCounter({ connection, logger });
  stack.defer(() => accepted.close());
  const dependencies = {
    appender: createAppender({
      connection,
      logger,
      elapsedMs: () => performance.now(),
      onOutcomes: () => {},
      onCommit: () => {},
    }),
    reader,
    earlier: NO_EARLIER_EVENTS,
    validate: createEventValidator(config.vocabulary),
    subjectOf: auditSubject,
    onAccepted: accepted.add,
    onUnknownFields: () => {},
  };
  const append = async ({ receivedAt, event }: PastEvent): Promise<void> => {
    const intake = createIntake({ ...dependencies, now: () => receivedAt });
    const judged = intake.judgeOne({ tenant, requestId: uuidV7(), text: JSON.stringify(event) });
    const [answer] =
      judged.kind === "judged" ? await intake.append(judged, { wantsReceipts: false }) : [judged];
    if (answer?.kind !== "stored")
      throw new Error(`${event.event_id} was not taken: ${JSON.stringify(answer)}`);
  };
  const written = await reader.lastSequence();
  for (let from = written; from < events.length; from += EVENTS_AT_ONCE)
    await Promise.all(events.slice(from, from + EVENTS_AT_ONCE).map(append));
};
