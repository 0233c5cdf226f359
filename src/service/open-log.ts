/** Opens what this process needs of the log: reader, appender, counters, and the watches over its stream. */
import type { StreamDefinition } from "../../streams/stream.ts";
import { createAcceptedCounter } from "../jetstream/accepted-counter.ts";
import { createAppender } from "../jetstream/appender.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { createLogReader } from "../jetstream/reader.ts";
import type { StallReport } from "../jetstream/stall-clock.ts";
import { LOG_STALL_MS_MAX, OTHER_STALL_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { inBackground } from "./background.ts";
import type { BrokerAddress } from "./broker-address.ts";
import { guardLog } from "./log-guard.ts";
import { keepStoring } from "./log-keeper.ts";

/** Watches a stream for stalls until the service stops (log-keeper.ts). */
export type KeepStream = (stream: string, stall: StallReport["stall"]) => void;

export type OpenedLog = Awaited<ReturnType<typeof openLog>>;

export const openLog = async (options: {
  connection: BrokerConnection;
  definition: StreamDefinition;
  broker: BrokerAddress;
  metrics: Metrics;
  logger: Logger;
  stack: AsyncDisposableStack;
}) => {
  const { connection, definition, broker, metrics, logger, stack } = options;
  const reader = await createLogReader(connection);
  const logGuard = guardLog({ connection, definition, logger });
  stack.use(inBackground(logGuard.run));
  const appender = createAppender({
    connection,
    logger,
    elapsedMs: () => performance.now(),
    isClosed: () => logGuard.problem() !== undefined,
    onOutcomes: (outcomes) => {
      metrics.countOutcomes(outcomes);
      reader.wake();
    },
    onCommit: (records) => metrics.commitRecords.observe(records),
  });
  const isClustered = (): boolean => connection.nats.info?.cluster !== undefined;
  const shared = { ownBroker: broker.own, isClustered, logger };
  const { stall, isAwaited } = appender;
  const { refusal } = logGuard;
  const logKeeper = stack.use(
    keepStoring({ ...shared, stream: "The event log", stall, isAwaited, refusal, msMax: LOG_STALL_MS_MAX }),
  );
  const keepStream: KeepStream = (stream, stalled) =>
    void stack.use(keepStoring({ ...shared, stream, stall: stalled, msMax: OTHER_STALL_MS_MAX }));
  const accepted = createAcceptedCounter({ connection, logger });
  keepStream("The stream of counts", accepted.stall);
  stack.defer(() => accepted.close());
  return { reader, appender, logKeeper, logGuard, keepStream, accepted };
};
