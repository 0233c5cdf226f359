/** Opens what this process needs of the log: reader, appender, counters, and the watches over its stream. */
import type { StreamDefinition } from "../../streams/stream.ts";
import { LOG_STALL_MS_MAX, OTHER_STALL_MS_MAX } from "../limits.ts";
import { createAcceptedCounter } from "../nats/accepted-counter.ts";
import { createAppender } from "../nats/appender.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { createLogReader } from "../nats/reader.ts";
import type { StallReport } from "../nats/stall-clock.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Projection } from "../views/kit/projection.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { inBackground } from "./background.ts";
import type { BrokerAddress } from "./broker-address.ts";
import type { HeadsFolder } from "./heads-folder.ts";
import { END_UNKNOWN, troubleOfCopy, watchLogEnd } from "./log-end.ts";
import { guardLog } from "./log-guard.ts";
import { keepStoring } from "./log-keeper.ts";
import { viewsNotOfLog } from "./view-standing.ts";

/** Watches a stream for stalls until the service stops (log-keeper.ts). */
export type KeepStream = (stream: string, stall: StallReport["stall"]) => void;

export type OpenedLog = Awaited<ReturnType<typeof openLog>>;

export const openLog = async (options: {
  connection: BrokerConnection;
  definition: StreamDefinition;
  broker: BrokerAddress;
  views: ViewStore;
  projections: readonly Projection[];
  /** Undefined without HEADS_COPY. */
  headsFolder: HeadsFolder | undefined;
  metrics: Metrics;
  logger: Logger;
  stack: AsyncDisposableStack;
}) => {
  const { connection, definition, broker, metrics, logger, stack, views, projections, headsFolder } = options;
  const reader = await createLogReader(connection);
  const logGuard = guardLog({ connection, definition, logger });
  stack.use(inBackground(logGuard.run));
  const logEnd = watchLogEnd({
    connection,
    viewReasons: () => viewsNotOfLog({ views, log: reader }, projections),
    copyTrouble: async () => {
      // Without a copy, too, a log that does not answer leaves its end unknown.
      await reader.lastSequence();
      return headsFolder && troubleOfCopy(reader, headsFolder);
    },
    logger,
  });
  await logEnd.look();
  stack.use(inBackground(logEnd.run));
  const appending = {
    connection,
    logger,
    elapsedMs: () => performance.now(),
    onOutcomes: (outcomes: Parameters<typeof metrics.countOutcomes>[0]) => {
      metrics.countOutcomes(outcomes);
      reader.wake();
    },
    onCommit: (records: number) => metrics.commitRecords.observe(records),
  };
  const misconfigured = (): string | undefined =>
    logGuard.problem() === undefined ? undefined : MISCONFIGURED;
  const appender = createAppender({
    ...appending,
    closedBecause: () => {
      if (!logEnd.isKnown()) return END_UNKNOWN;
      return misconfigured() ?? (logEnd.isBehind() ? BEHIND : undefined);
    },
  });
  /** For the record that accepts a log that lost its end. */
  const restoringAppender = createAppender({ ...appending, closedBecause: misconfigured });
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
  return { reader, appender, restoringAppender, logKeeper, logGuard, logEnd, keepStream, accepted };
};

/** For clients. Readiness has what to do. */
const MISCONFIGURED = "The event log is misconfigured and accepts no events until an operator fixes it.";
const BEHIND =
  "The event log may have lost its end and accepts no events until an operator has settled that.";
