/**
 * Assembly: the only place that knows rules and machines together. Starts them in the order in which they need each other and
 * stops them in the opposite one.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { auditStream } from "../../streams/audit.ts";
import type { StreamDefinition } from "../../streams/stream.ts";
import { auditSubject, sandboxSubject } from "../../streams/subjects.ts";
import type { AdminKeySetup } from "../access/admin-key.ts";
import { createClientRateLimiter, holderOf } from "../access/client-rate-limit.ts";
import type { KeyStore } from "../access/key-store.ts";
import { createKeys } from "../access/keys.ts";
import { createRateLimiter } from "../access/rate-limit.ts";
import { createSharedRateLimiter, type RateCounter } from "../access/shared-rate-limit.ts";
import type { Recorder } from "../administration/recorder.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import { createEventValidator } from "../event/validate.ts";
import {
  createHttpApp,
  createOperationApp,
  createStartingApp,
  type HttpHandler,
  type OperationDependencies,
} from "../http/app.ts";
import type { OpenStreams } from "../http/open-streams.ts";
import type { Readiness } from "../http/routes/operation.ts";
import { createIntake, type Intake } from "../intake/intake.ts";
import type { IntakeDependencies } from "../intake/submission.ts";
import { createAcceptedCounter } from "../jetstream/accepted-counter.ts";
import { createAppender } from "../jetstream/appender.ts";
import { createCheckpointStream } from "../jetstream/checkpoint-stream.ts";
import { createClientTimes } from "../jetstream/client-times.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { createRateCounter } from "../jetstream/rate-counter.ts";
import { createLogReader } from "../jetstream/reader.ts";
import { createRetentionBucket } from "../jetstream/retention-bucket.ts";
import { createSandboxAppender } from "../jetstream/sandbox-appender.ts";
import {
  CONNECTION_BODY_BYTES_MAX,
  CONNECTION_IDLE_MS_MAX,
  LOG_STALL_MS_MAX,
  OTHER_STALL_MS_MAX,
  REQUEST_DRAIN_MS_MAX,
  SANDBOX_REQUESTS_PER_MINUTE,
  VIEWS_DRAIN_MS_MAX,
} from "../limits.ts";
import { messageIdOfClient } from "../log/message-id.ts";
import type { Rules } from "../obligations/clocks.ts";
import { createMadeViews, type MadeViews } from "../projections/made-views.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import { createRetention } from "../retention/retention.ts";
import type { RetentionStore } from "../retention/retention-store.ts";
import { listen } from "../runtime/listen.ts";
import { uuidV7 } from "../runtime/uuid.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import type { ViewStore } from "../views/view-store.ts";
import { inBackground } from "./background.ts";
import { createSandboxBodies, createTenantBodies } from "./body-readers.ts";
import { type BrokerAddress, provideBroker } from "./broker-address.ts";
import { type BrokerContact, contactBroker } from "./broker-contact.ts";
import { loadBrowserFiles } from "./browser-files.ts";
import type { Config } from "./config.ts";
import { makeDataFolder } from "./data-folder.ts";
import { createEarlierEvents, NO_EARLIER_EVENTS } from "./earlier-events.ts";
import { createReadiness } from "./health.ts";
import { guardLog } from "./log-guard.ts";
import { keepStoring } from "./log-keeper.ts";
import { measureLog, measureReadiness } from "./log-metrics.ts";
import { createOpenAnswers } from "./open-answers.ts";
import { openViews } from "./open-views.ts";
import { startRecording } from "./recording.ts";
import { type KeepStream, startProjector, startSealer } from "./roles.ts";
import { refuseClosedViews } from "./view-place.ts";

export interface Service extends AsyncDisposable {
  /** Where it listens; absent where it does not. */
  readonly url: string | undefined;
  readonly broker: string;
  readonly consumerUrlFile: string | undefined;
  readonly adminKey: AdminKeySetup;
  /** Stops accepting, finishes what was accepted, and ends what was started. */
  stop(): Promise<void>;
}

const starting = async (): Promise<readonly string[]> => [
  "The process is starting: it waits for its broker or the database of its views, or opens them.",
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
  refuseClosedViews(config);
  await using stack = new AsyncDisposableStack();
  const metrics = createMetrics();
  const telling = { metrics, logger, trustedHops: config.trustedHops, newRequestId: uuidV7 };
  const listening = startListening({
    config,
    starting: createStartingApp({ ...telling, readiness: STARTING }),
    stack,
  });
  const broker = stack.use(await provideBroker({ config, logger }));
  const now = (): Date => new Date();
  const contact = stack.use(await contactBroker({ config, logger, broker, now }));
  const { connection, adminKey } = contact;
  const retentionStore = createRetentionBucket({ connection, logger });

  const { views, projections, rules } = await openViews({ config, logger, stack });
  const log = await openLog({
    connection,
    definition: auditStream({ replicas: config.replicas }),
    broker,
    metrics,
    logger,
    stack,
  });
  const { reader, keep, accepted } = log;
  measureLog(metrics, connection);
  const madeViews = createMadeViews({ views, log: reader });
  await madeViews.lookFirst(projections.map(({ name }) => name));
  if (config.roles.includes("projector")) {
    const shared = { log: reader, views, logger, metrics, now };
    startProjector(stack, { ...shared, projections, rules, connection, keep, retentionStore, accepted });
  }
  const checkpoints = await createCheckpointStream(connection);
  keep("The stream of tree heads", checkpoints.stall);
  if (config.roles.includes("sealer"))
    await startSealer(stack, config, { log: reader, views, checkpoints, logger, metrics });
  const readiness = createReadiness({ ...contact, ...log, views, projections, madeViews });
  measureReadiness(metrics, readiness);
  const surroundings = { ...telling, readiness };
  const openAnswers = createOpenAnswers();
  const stores = { views, madeViews, retentionStore, checkpoints };
  const handle = config.roles.includes("api")
    ? await createApi({ config, contact, surroundings, openAnswers, log, stores, rules, version, now, stack })
    : createOperationApp(surroundings);
  // Once the requests have ended: what goes on in the background would wait for each of its answers.
  stack.defer(() => connection.closeIfSilent());
  listening?.serve(handle, openAnswers.streams);
  // And before: requests that wait for it are answered, and not cut off.
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

/** What the role api answers with. */
const createApi = async (parts: {
  config: Config;
  contact: BrokerContact;
  surroundings: OperationDependencies;
  openAnswers: ReturnType<typeof createOpenAnswers>;
  log: OpenedLog;
  stores: {
    views: ViewStore;
    madeViews: MadeViews;
    retentionStore: RetentionStore;
    checkpoints: CheckpointStore;
  };
  rules: Rules;
  version: string;
  now: () => Date;
  stack: AsyncDisposableStack;
}): Promise<HttpHandler> => {
  const { config, contact, surroundings, openAnswers, log, stores, rules, version, now, stack } = parts;
  const { reader, appender, accepted } = log;
  const { views, madeViews, retentionStore, checkpoints } = stores;
  const { connection, keyBucket } = contact;
  const { metrics, logger } = surroundings;
  const judging = {
    validate: createEventValidator(config.vocabulary),
    now,
    onUnknownFields: (count: number) => metrics.unknownFields.inc(count),
  };
  const recorder = startRecording({
    appender,
    accepted,
    subjectOf: auditSubjectOf,
    metrics,
    logger,
    now,
    stack,
  });
  const rateCounter = createRateCounter({ connection, logger });
  return createHttpApp({
    ...surroundings,
    intake: createAuditIntake({ log, views, metrics, judging }),
    sandbox: await openSandbox({ connection, logger, judging, stack }),
    views,
    madeViews,
    reconciliation: { views, log: reader, accepted },
    log: reader,
    checkpoints,
    serviceName: config.serviceName,
    ...openAnswers,
    rules,
    ...createManagement({ keyBucket, retentionStore, recorder, now }),
    recorder,
    vocabulary: config.vocabulary,
    ...(await loadBrowserFiles()),
    version,
    bodies: stack.use(createTenantBodies()),
    limiter: createLimiter(rateCounter),
    now,
  });
};

type Judging = Pick<IntakeDependencies, "validate" | "now" | "onUnknownFields">;

const createAuditIntake = (parts: {
  log: OpenedLog;
  views: ViewStore;
  metrics: Metrics;
  judging: Judging;
}): Intake => {
  const { log, views, metrics, judging } = parts;
  const { appender, reader, accepted } = log;
  return createIntake({
    appender,
    reader,
    earlier: createEarlierEvents({ log: reader, views, countOutcomes: metrics.countOutcomes }),
    subjectOf: auditSubjectOf,
    onAccepted: accepted.add,
    ...judging,
  });
};

/** What `keys:manage` opens. */
const createManagement = (stores: {
  keyBucket: KeyStore;
  retentionStore: RetentionStore;
  recorder: Recorder;
  now: () => Date;
}) => {
  const { keyBucket, retentionStore, recorder, now } = stores;
  return {
    keys: createKeys({ store: keyBucket, recorder, now, randomBytes }),
    keyStore: keyBucket,
    retention: createRetention({ store: retentionStore, recorder, now, newId: uuidV7 }),
  };
};

const auditSubjectOf = (tenant: string, event: AuditEvent): string =>
  auditSubject(tenant, event.asset_id, event.event_type);

const createLimiter = (counter: RateCounter) =>
  createSharedRateLimiter({
    counter,
    fallback: createRateLimiter(() => performance.now()),
    nowMs: () => Date.now(),
  });

const openSandbox = async ({
  connection,
  logger,
  judging,
  stack,
}: {
  connection: BrokerConnection;
  logger: Logger;
  judging: Judging;
  stack: AsyncDisposableStack;
}) => {
  const reader = await createLogReader(connection, "SANDBOX");
  const appender = createSandboxAppender({ connection, reader, elapsedMs: () => performance.now() });
  const intakeOf = (address: string): Intake => {
    const client = holderOf(address);
    return createIntake({
      appender: {
        append: (records) =>
          appender.append(
            records.map((record) => ({ ...record, messageId: messageIdOfClient(client, record.messageId) })),
          ),
      },
      reader,
      earlier: NO_EARLIER_EVENTS,
      subjectOf: (_tenant, event) => sandboxSubject(event.asset_id, event.event_type),
      ...judging,
      // Nothing of it is in the log, and everybody may send it: it counts nowhere.
      onAccepted: () => {},
      onUnknownFields: () => {},
    });
  };
  const limiter = createClientRateLimiter({
    store: createClientTimes({ connection, logger }),
    nowMs: () => Date.now(),
    perMinute: SANDBOX_REQUESTS_PER_MINUTE,
  });
  return { intakeOf, reader, limiter, bodies: stack.use(createSandboxBodies()) };
};

type OpenedLog = Awaited<ReturnType<typeof openLog>>;

const openLog = async (options: {
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
    onOutcomes: metrics.countOutcomes,
    onCommit: (records) => metrics.commitRecords.observe(records),
  });
  const shared = { ownBroker: broker.own, logger };
  const { stall, isAwaited } = appender;
  const { refusal } = logGuard;
  const logKeeper = stack.use(
    keepStoring({ ...shared, stream: "The event log", stall, isAwaited, refusal, msMax: LOG_STALL_MS_MAX }),
  );
  const keep: KeepStream = (stream, stalled) =>
    void stack.use(keepStoring({ ...shared, stream, stall: stalled, msMax: OTHER_STALL_MS_MAX }));
  const accepted = await createAcceptedCounter({ connection, logger });
  keep("The stream of counts", accepted.stall);
  stack.defer(() => accepted.close());
  return { reader, appender, logKeeper, logGuard, keep, accepted };
};

/**
 * Listens before the process can serve, so that it is seen to live: `serve` puts the handler in the place of the one that says
 * so. Undefined where it does not listen.
 */
const startListening = (options: {
  config: Config;
  starting: HttpHandler;
  stack: AsyncDisposableStack;
}): { url: string; serve(handle: HttpHandler, liveStreams: OpenStreams): void } | undefined => {
  const { config, starting, stack } = options;
  const { host, port } = config;
  if (port === undefined) return undefined;
  let handle = starting;
  const listener = listen({
    host,
    port,
    handle: (request, connection) => handle(request, connection),
    bodyBytesMax: CONNECTION_BODY_BYTES_MAX,
    idleMsMax: CONNECTION_IDLE_MS_MAX,
  });
  // Where the start fails.
  stack.defer(() => listener.stop(0));
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const shownHost = isEverywhere ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${listener.port}`,
    serve: (served, liveStreams) => {
      handle = served;
      // Before all that requests need.
      stack.defer(() => listener.stop(REQUEST_DRAIN_MS_MAX));
      // Before that: they would not end by themselves.
      stack.defer(() => liveStreams.end());
    },
  };
};
