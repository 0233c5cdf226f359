/** Assembles what the role api needs: every rule with its implementation. */
import { randomBytes } from "node:crypto";
import { auditSubject, sandboxSubject } from "../../streams/subjects.ts";
import { createRecorder, type Recorder } from "../access/administration/recorder.ts";
import { ACTIONS } from "../access/administration/system-events.ts";
import { isStillActive } from "../access/authenticate.ts";
import { createCalendars } from "../access/calendars.ts";
import { holderOf } from "../access/client.ts";
import { createKeys } from "../access/keys.ts";
import { quotaBounds } from "../access/memory-quota.ts";
import { createKeyLimiter, createRateLimiter, type RateLimiter } from "../access/rate-limit.ts";
import { createRetention } from "../access/retention/retention.ts";
import { createFindSeat, createSignInProvider } from "../access/sign-in-provider.ts";
import { createHttpApp, type HttpHandler, type OperationDependencies } from "../api/http/app.ts";
import { type BodyReader, createBodyReader } from "../api/http/body.ts";
import { createOpenStreams } from "../api/http/open-streams.ts";
import { createIntake, type Intake, type IntakeDependencies } from "../api/intake/intake.ts";
import { createSandboxProver } from "../api/sandbox/sandbox-proof.ts";
import { createEventValidator } from "../event/validate.ts";
import {
  BODY_BYTES_HELD_MAX,
  BODY_MS_MAX,
  EXPORTS_MAX,
  EXPORTS_PER_KEY_MAX,
  EXPORTS_PER_TENANT_MAX,
  SANDBOX_BODY_BYTES_HELD_MAX,
  STREAMS_MAX,
  STREAMS_PER_KEY_MAX,
  STREAMS_PER_TENANT_MAX,
} from "../limits.ts";
import { messageIdOfClient } from "../log/event-log.ts";
import { createRateCounter } from "../nats/rate-counter.ts";
import { createLogReader } from "../nats/reader.ts";
import { createSandboxAppender } from "../nats/sandbox-appender.ts";
import { SEED_BYTES } from "../proof/signed-note.ts";
import { createCollector } from "../runtime/collect-garbage.ts";
import { uuidV7 } from "../runtime/uuid.ts";
import { countFromZero } from "../telemetry/metrics.ts";
import { treeSource } from "../views/tree/queries.ts";
import { inBackground, pause } from "./background.ts";
import { loadBrowserFiles } from "./browser-files.ts";
import type { Config } from "./config.ts";
import { createEarlierEvents, NO_EARLIER_EVENTS } from "./earlier-events.ts";
import { createAcceptRestore } from "./log-end.ts";
import type { Parts } from "./parts.ts";

export const createApi = async (
  parts: Parts,
  operation: OperationDependencies,
): Promise<{ handle: HttpHandler; endStreams: () => void }> => {
  const { config, connection, log, views, checkpoints, headsFolder, accepted, endWatch, appender } = parts;
  const { now, logger } = parts;
  const counter = createRateCounter({ connection, logger });
  const limiter = createRateLimiter({ counter, nowMs: () => Date.now() });
  const judging = { validate: createEventValidator(config.vocabulary), now };
  const openAnswers = createOpenAnswers();
  const recorder = startRecording(parts, appender);
  const acceptRestore = createAcceptRestore({
    folder: headsFolder,
    log,
    views,
    trees: treeSource(views),
    recorder: startRecording(parts, parts.restoringAppender),
    lookAgain: endWatch.look,
  });
  const management = createManagement(parts, recorder);
  const handle = createHttpApp({
    ...operation,
    ...management,
    ...openAnswers,
    ...(await loadBrowserFiles()),
    intake: createAuditIntake(parts, judging),
    sandbox: await openSandbox(parts, limiter, judging),
    views,
    viewReadiness: parts.viewReadiness,
    reconciliation: { views, log, accepted },
    log,
    checkpoints,
    serviceName: config.serviceName,
    rules: parts.rules,
    signIn: createSignIn(config, { ...management, now }),
    recorder,
    acceptRestore,
    isLogBehind: endWatch.isBehind,
    vocabulary: config.vocabulary,
    version: parts.version,
    bodies: bodiesWithin(BODY_BYTES_HELD_MAX),
    limiter: createKeyLimiter({ limiter, tenantLimit: config.tenantRateLimit }),
    now,
    randomBytes,
  });
  return { handle, endStreams: openAnswers.streams.end };
};

/** Answers that stay open as long as their readers want. */
const createOpenAnswers = () => ({
  streams: createOpenStreams({
    perKeyMax: STREAMS_PER_KEY_MAX,
    perTenantMax: STREAMS_PER_TENANT_MAX,
    allMax: STREAMS_MAX,
  }),
  exports: createOpenStreams({
    perKeyMax: EXPORTS_PER_KEY_MAX,
    perTenantMax: EXPORTS_PER_TENANT_MAX,
    allMax: EXPORTS_MAX,
  }),
});

/** One reader of bodies for tenants and one for the sandbox, so that a client without a key never uses a tenant's share. */
const bodiesWithin = (heldMax: number): BodyReader =>
  createBodyReader({ bodyMsMax: BODY_MS_MAX, onLargeReleased: createCollector(), ...quotaBounds(heldMax) });

const startRecording = (
  { accepted, keyBucket, metrics, logger, now, stack }: Parts,
  appender: Parts["appender"],
): Recorder => {
  for (const event_type of Object.keys(ACTIONS))
    countFromZero(metrics.administrativeActions, "outcome", ["done", "refused", "failed"], { event_type });
  const recorder = createRecorder({
    appender,
    isActive: (principal) => isStillActive(principal, keyBucket, now()),
    subjectOf: auditSubject,
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

type Judging = Pick<IntakeDependencies, "validate" | "now">;

const createAuditIntake = ({ log, appender, accepted, views, metrics }: Parts, judging: Judging): Intake =>
  createIntake({
    ...judging,
    appender,
    reader: log,
    earlier: createEarlierEvents({ log, views, countOutcomes: metrics.countOutcomes }),
    subjectOf: auditSubject,
    onAccepted: accepted.add,
    onUnknownFields: (count) => metrics.unknownFields.inc(count),
  });

/** What the scope `keys:manage` allows. */
const createManagement = ({ keyBucket, retention, config, now }: Parts, recorder: Recorder) => {
  const ofKeys = { store: keyBucket, recorder, now, randomBytes, keyPrefix: config.apiKeyPrefix };
  const keys = createKeys(ofKeys);
  return {
    keys,
    calendars: createCalendars({ ...ofKeys, keys }),
    keyStore: keyBucket,
    retention: createRetention({ store: retention, recorder, now, newId: uuidV7 }),
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

const openSandbox = async ({ connection }: Parts, limiter: RateLimiter, judging: Judging) => {
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
      subjectOf: (_tenant, ...of) => sandboxSubject(...of),
      ...judging,
      // Sandbox events are not in the log and anybody may send them, so they are counted nowhere.
      onAccepted: () => {},
      onUnknownFields: () => {},
    });
  };
  return {
    intakeOf,
    reader,
    limiter,
    bodies: bodiesWithin(SANDBOX_BODY_BYTES_HELD_MAX),
    prove: createSandboxProver(randomBytes(SEED_BYTES)),
  };
};
