/** Assembles what the role api needs: every rule with its implementation. */
import { randomBytes } from "node:crypto";
import { auditSubject, sandboxSubject } from "../../streams/subjects.ts";
import type { Recorder } from "../access/administration/recorder.ts";
import { createCalendars } from "../access/calendars.ts";
import { createClientRateLimiter, holderOf } from "../access/client-rate-limit.ts";
import { createKeyLimiter, type TenantRateLimit } from "../access/key-limiter.ts";
import type { KeyStore } from "../access/key-store.ts";
import { createKeys } from "../access/keys.ts";
import { createFindSeat } from "../access/provider-seat.ts";
import { createRateLimiter } from "../access/rate-limit.ts";
import { createRetention } from "../access/retention/retention.ts";
import type { RetentionStore } from "../access/retention/retention-store.ts";
import { createSharedRateLimiter, type RateCounter } from "../access/shared-rate-limit.ts";
import { createSignInProvider } from "../access/sign-in-provider.ts";
import { createHttpApp, type HttpHandler, type OperationDependencies } from "../api/http/app.ts";
import { createIntake, type Intake } from "../api/intake/intake.ts";
import type { IntakeDependencies } from "../api/intake/submission.ts";
import { createSandboxProver } from "../api/sandbox/sandbox-proof.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import { createEventValidator } from "../event/validate.ts";
import type { Rules } from "../law/obligations/obligation.ts";
import { SANDBOX_REQUESTS_PER_MINUTE } from "../limits.ts";
import { messageIdOfClient } from "../log/message-id.ts";
import { createClientTimes } from "../nats/client-times.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { createRateCounter } from "../nats/rate-counter.ts";
import { createLogReader } from "../nats/reader.ts";
import { createSandboxAppender } from "../nats/sandbox-appender.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import { SEED_BYTES } from "../proof/signed-note.ts";
import { uuidV7 } from "../runtime/uuid.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { MadeViews } from "../views/kit/made-views.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { treeSource } from "../views/tree/queries.ts";
import { createSandboxBodies, createTenantBodies } from "./body-readers.ts";
import type { BrokerContact } from "./broker-contact.ts";
import { loadBrowserFiles } from "./browser-files.ts";
import type { Config } from "./config.ts";
import { createEarlierEvents, NO_EARLIER_EVENTS } from "./earlier-events.ts";
import type { HeadsFolder } from "./heads-folder.ts";
import type { createOpenAnswers } from "./open-answers.ts";
import type { OpenedLog } from "./open-log.ts";
import { startRecording } from "./recording.ts";
import { createAcceptRestore } from "./restoring.ts";

export const createApi = async (parts: {
  config: Config;
  contact: BrokerContact;
  operation: OperationDependencies;
  openAnswers: ReturnType<typeof createOpenAnswers>;
  log: OpenedLog;
  stores: {
    views: ViewStore;
    madeViews: MadeViews;
    retentionStore: RetentionStore;
    checkpoints: CheckpointStore;
    headsFolder: HeadsFolder | undefined;
  };
  rules: Rules;
  version: string;
  now: () => Date;
  stack: AsyncDisposableStack;
}): Promise<HttpHandler> => {
  const { config, contact, operation, openAnswers, log, stores, rules, version, now, stack } = parts;
  const { reader, appender, restoringAppender, accepted, logEnd } = log;
  const { views, madeViews, retentionStore, checkpoints, headsFolder } = stores;
  const { connection, keyBucket } = contact;
  const { metrics, logger } = operation;
  const judging = {
    validate: createEventValidator(config.vocabulary),
    now,
  };
  const recording = { accepted, subjectOf: auditSubjectOf, metrics, logger, now, stack };
  const recorder = startRecording({ ...recording, appender });
  const acceptRestore = createAcceptRestore({
    folder: headsFolder,
    log: reader,
    views,
    trees: treeSource(views),
    recorder: startRecording({ ...recording, appender: restoringAppender }),
    logEnd,
  });
  const rateCounter = createRateCounter({ connection, logger });
  const management = createManagement({
    keyBucket,
    keyPrefix: config.apiKeyPrefix,
    retentionStore,
    recorder,
    now,
  });
  return createHttpApp({
    ...operation,
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
    ...management,
    signIn: createSignIn(config, { ...management, now }),
    recorder,
    acceptRestore,
    isLogBehind: logEnd.isBehind,
    vocabulary: config.vocabulary,
    ...(await loadBrowserFiles()),
    version,
    bodies: stack.use(createTenantBodies()),
    limiter: createLimiter(rateCounter, config.tenantRateLimit),
    now,
    randomBytes,
  });
};

type Judging = Pick<IntakeDependencies, "validate" | "now">;

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
    onUnknownFields: (count) => metrics.unknownFields.inc(count),
    ...judging,
  });
};

/** What the scope `keys:manage` allows. */
const createManagement = (stores: {
  keyBucket: KeyStore;
  keyPrefix: string;
  retentionStore: RetentionStore;
  recorder: Recorder;
  now: () => Date;
}) => {
  const { keyBucket, keyPrefix, retentionStore, recorder, now } = stores;
  const ofKeys = { store: keyBucket, recorder, now, randomBytes, keyPrefix };
  const keys = createKeys(ofKeys);
  return {
    keys,
    calendars: createCalendars({ ...ofKeys, keys }),
    keyStore: keyBucket,
    retention: createRetention({ store: retentionStore, recorder, now, newId: uuidV7 }),
  };
};

const createSignIn = (
  { signIn: settings }: Config,
  dependencies: ReturnType<typeof createManagement> & { readonly now: () => Date },
) =>
  settings && {
    settings,
    provider: createSignInProvider({ settings, now: dependencies.now, randomBytes }),
    findSeat: createFindSeat(dependencies),
  };

const auditSubjectOf = (tenant: string, event: AuditEvent): string =>
  auditSubject(tenant, event.asset_id, event.event_type);

const createLimiter = (counter: RateCounter, tenantLimit: TenantRateLimit) =>
  createKeyLimiter({
    shared: createSharedRateLimiter({
      counter,
      fallback: createRateLimiter(() => performance.now()),
      nowMs: () => Date.now(),
    }),
    tenantLimit,
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
      // Sandbox events are not in the log and anybody may send them, so they are counted nowhere.
      onAccepted: () => {},
      onUnknownFields: () => {},
    });
  };
  const limiter = createClientRateLimiter({
    store: createClientTimes({ connection, logger }),
    nowMs: () => Date.now(),
    perMinute: SANDBOX_REQUESTS_PER_MINUTE,
  });
  return {
    intakeOf,
    reader,
    limiter,
    bodies: stack.use(createSandboxBodies()),
    prove: createSandboxProver(randomBytes(SEED_BYTES)),
  };
};
