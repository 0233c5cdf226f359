/**
 * Starts the parts of the service in the order of dependence, and stops them in the opposite order. api.ts assembles what requests need,
 * roles.ts what the other roles do.
 */
import { setTimeout as delay } from "node:timers/promises";
import { auditStream } from "../../streams/audit.ts";
import { type AdminKeySetup, isFirstKey } from "../access/admin-key.ts";
import { KEYS_LOST } from "../access/key-store.ts";
import { createOperationApp, createStartingApp } from "../api/http/app.ts";
import type { Readiness } from "../api/routes/operation.ts";
import { VIEWS_DRAIN_MS_MAX } from "../limits.ts";
import { createCheckpointStream } from "../nats/checkpoint-stream.ts";
import { createRetentionBucket } from "../nats/retention-bucket.ts";
import { uuidV7 } from "../runtime/uuid.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { createMadeViews } from "../views/kit/made-views.ts";
import { createApi } from "./api.ts";
import { provideBroker } from "./broker-address.ts";
import { contactBroker } from "./broker-contact.ts";
import type { Config } from "./config.ts";
import { checkHeadsCopy, makeDataFolder } from "./data-folder.ts";
import { openHeadsFolder } from "./heads-folder.ts";
import { blocking, HEALTH_REASONS, type HealthReason } from "./health-reasons.ts";
import { createOpenAnswers } from "./open-answers.ts";
import { openHealth } from "./open-health.ts";
import { openLog } from "./open-log.ts";
import { openViews } from "./open-views.ts";
import { startProjector, startSealer } from "./roles.ts";
import { startListening } from "./start-listening.ts";
import { refuseClosedViews } from "./view-place.ts";

export interface Service extends AsyncDisposable {
  /** Where it listens; undefined if it does not listen. */
  readonly url: string | undefined;
  readonly broker: string;
  readonly consumerUrlFile: string | undefined;
  readonly adminKey: AdminKeySetup;
  /** Stops accepting, finishes what was accepted, and ends what was started. */
  stop(): Promise<void>;
}

const starting = async (): Promise<readonly HealthReason[]> => [
  blocking("starting", HEALTH_REASONS.starting.summary),
];
const STARTING: Readiness = { reasons: starting, reasonsWithoutViews: starting };

/**
 * Throws BrokerRefusedError, BrokerStartError, DataFolderRefusedError, ViewsRefusedError, DeadlinesRefusedError, CheckpointKeyError or ListenRefusedError, each with
 * a message for the operator.
 */
export const startService = async (dependencies: {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
}): Promise<Service> => {
  const { config, logger, version } = dependencies;
  await makeDataFolder(config.dataDir);
  await checkHeadsCopy(config);
  refuseClosedViews(config);
  await using stack = new AsyncDisposableStack();
  const metrics = createMetrics();
  const withoutReadiness = { metrics, logger, trustedHops: config.trustedHops, newRequestId: uuidV7 };
  const listening = startListening({
    config,
    starting: createStartingApp({ ...withoutReadiness, readiness: STARTING }),
    stack,
  });
  const broker = stack.use(await provideBroker({ config, logger }));
  const now = (): Date => new Date();
  const contact = stack.use(await contactBroker({ config, logger, broker, now }));
  const { connection, adminKey } = contact;
  const retentionStore = createRetentionBucket({ connection, logger });

  const { views, projections, rules } = await openViews({ config, logger, stack });
  const headsFolder = config.headsCopy === undefined ? undefined : openHeadsFolder(config.headsCopy);
  const log = await openLog({
    connection,
    definition: auditStream({ replicas: config.replicas }),
    broker,
    views,
    projections,
    headsFolder,
    metrics,
    logger,
    stack,
  });
  const { reader, keepStream, accepted } = log;
  const madeViews = createMadeViews({ views, log: reader });
  const logEnd = await madeViews.lookFirst(projections.map(({ name }) => name));
  if (isFirstKey(adminKey) && logEnd !== undefined && logEnd > 0) logger.error(KEYS_LOST);
  if (config.roles.includes("projector")) {
    const shared = { log: reader, logEnd, views, projections, rules, logger, metrics, now };
    startProjector(stack, { ...shared, connection, keepStream, retentionStore, accepted });
  }
  const checkpoints = await createCheckpointStream(connection);
  keepStream("The stream of tree heads", checkpoints.stall);
  const signing = { log: reader, views, checkpoints, headsFolder, logger, metrics, now };
  const sealer = config.roles.includes("sealer") ? await startSealer(stack, config, signing) : undefined;
  const readiness = openHealth({
    ...{ config, contact, log, views, projections, madeViews, sealer, headsFolder, checkpoints },
    ...{ metrics, logger, version, now, stack },
  });
  const operation = { ...withoutReadiness, readiness };
  const openAnswers = createOpenAnswers();
  const stores = { views, madeViews, retentionStore, checkpoints, headsFolder };
  const handle = config.roles.includes("api")
    ? await createApi({ config, contact, operation, openAnswers, log, stores, rules, version, now, stack })
    : createOperationApp(operation);
  // Runs after the requests have ended: background work would wait for each answer of a silent broker.
  stack.defer(() => connection.closeIfSilent());
  listening?.serve(handle, openAnswers.streams);
  // Runs before the requests end: those that wait for a silent broker are answered instead of cut off.
  stack.defer(() => connection.closeIfSilent());
  stack.defer(() => void delay(VIEWS_DRAIN_MS_MAX, undefined, { ref: false }).then(views.giveUp));
  const running = stack.move();
  const stop = (): Promise<void> => running.disposeAsync();
  return {
    url: listening?.url,
    broker: connection.describe(),
    consumerUrlFile: broker.consumerUrlFile,
    adminKey,
    stop,
    [Symbol.asyncDispose]: stop,
  };
};
