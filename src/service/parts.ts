/**
 * What all roles of a process share, opened in the order of dependence: broker, views, log, tree heads. What must be closed is on the stack. Nothing
 * is appended while one of the watches over the log says so.
 */
import { topology } from "../../streams/topology.ts";
import { LOG_STALL_MS_MAX, OTHER_STALL_MS_MAX } from "../limits.ts";
import { createAcceptedCounter } from "../nats/accepted-counter.ts";
import { createAppender } from "../nats/appender.ts";
import { createCheckpointStream } from "../nats/checkpoint-stream.ts";
import { createLogReader } from "../nats/reader.ts";
import { createRetentionBucket } from "../nats/retention-bucket.ts";
import type { StallReport } from "../nats/stall-clock.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createViewReadiness } from "../views/kit/view-readiness.ts";
import { contactBroker, provideBroker } from "./broker.ts";
import { keepStoring, watchBroker } from "./broker-watch.ts";
import type { Config } from "./config.ts";
import { openHeadsFolder } from "./heads-folder.ts";
import { END_UNKNOWN, troubleOfCopy, watchLogEnd } from "./log-end.ts";
import { openViews, viewsNotOfLog } from "./view-database.ts";

export type Parts = Awaited<ReturnType<typeof openParts>>;

interface Given {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly metrics: Metrics;
  readonly stack: AsyncDisposableStack;
}

export const openParts = async (given: Given) => {
  const sources = await openSources(given);
  const appending = await openAppending(sources);
  const { views, projections, log, older, connection } = sources;
  const viewReadiness = createViewReadiness({ views, log, projections, older });
  /** Where the log ended when the process started; undefined if unknown. */
  const logEnd = await viewReadiness.lookFirst();
  const checkpoints = await createCheckpointStream(connection);
  appending.keepStream("The stream of tree heads", checkpoints.stall);
  return { ...sources, ...appending, viewReadiness, logEnd, checkpoints };
};

const openSources = async (given: Given) => {
  const { config, logger, stack } = given;
  const now = (): Date => new Date();
  const broker = stack.use(await provideBroker({ config, logger }));
  const contact = stack.use(await contactBroker({ config, logger, broker, now }));
  const { connection } = contact;
  return {
    ...given,
    now,
    broker,
    ...contact,
    retention: createRetentionBucket({ connection, logger }),
    ...(await openViews({ config, logger, stack })),
    headsFolder: config.headsCopy === undefined ? undefined : openHeadsFolder(config.headsCopy),
    log: await createLogReader(connection),
  };
};

const openAppending = async (sources: Awaited<ReturnType<typeof openSources>>) => {
  const { config, connection, broker, headsFolder, log, metrics, logger, stack } = sources;
  const definitions = topology({ replicas: config.replicas });
  const brokers = stack.use(watchBroker({ connection, definitions, logger }));
  const copyTrouble = async () => {
    // Without a copy, too, a log that does not answer leaves its end unknown.
    await log.lastSequence();
    return headsFolder && troubleOfCopy(log, headsFolder);
  };
  const viewReasons = () => viewsNotOfLog(sources);
  const endWatch = stack.use(watchLogEnd({ connection, viewReasons, copyTrouble, logger }));
  await endWatch.look();
  const misconfigured = (): string | undefined =>
    brokers.troubles().some(({ id }) => id === "log_misconfigured") ? MISCONFIGURED : undefined;
  const appenderThat = (closedBecause: () => string | undefined) =>
    createAppender({
      connection,
      logger,
      closedBecause,
      elapsedMs: () => performance.now(),
      onOutcomes: (outcomes) => {
        metrics.countOutcomes(outcomes);
        log.wake();
      },
      onCommit: (records) => metrics.commitRecords.observe(records),
    });
  const appender = appenderThat(() => {
    if (!endWatch.isKnown()) return END_UNKNOWN;
    return misconfigured() ?? (endWatch.isBehind() ? BEHIND : undefined);
  });
  /** For the record that accepts a log that lost its end. */
  const restoringAppender = appenderThat(misconfigured);
  const isClustered = (): boolean => connection.nats.info?.cluster !== undefined;
  const kept = { ownBroker: broker.own, isClustered, logger };
  const { stall, isAwaited } = appender;
  const logKeeper = stack.use(
    keepStoring({ ...kept, stream: "The event log", stall, isAwaited, msMax: LOG_STALL_MS_MAX }),
  );
  /** Watches another stream for stalls until the service stops. */
  const keepStream = (stream: string, stalled: StallReport["stall"]): void =>
    void stack.use(keepStoring({ ...kept, stream, stall: stalled, msMax: OTHER_STALL_MS_MAX }));
  const accepted = createAcceptedCounter({ connection, logger });
  keepStream("The stream of counts", accepted.stall);
  stack.defer(() => accepted.close());
  const watches = [brokers, sources.streams, logKeeper, endWatch];
  return { brokers, endWatch, watches, appender, restoringAppender, keepStream, accepted };
};

/** For clients. Readiness has what to do. */
const MISCONFIGURED = "The event log is misconfigured and accepts no events until an operator fixes it.";
const BEHIND =
  "The event log may have lost its end and accepts no events until an operator has settled that.";
