/**
 * How a service starts, runs and stops. The parts are started in the order of dependence; each that must be stopped goes onto one stack, which is
 * unwound in the opposite order. parts.ts opens what all roles share; api.ts, projector.ts and sealer.ts are the roles.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isFirstKey } from "../access/admin-key.ts";
import { KEYS_LOST } from "../access/key-store.ts";
import { createOperationApp, createStartingApp, type HttpHandler } from "../api/http/app.ts";
import type { Readiness } from "../api/http/dependencies.ts";
import {
  CONNECTION_BODY_BYTES_MAX,
  CONNECTION_IDLE_MS_MAX,
  REQUEST_DRAIN_MS_MAX,
  VIEWS_DRAIN_MS_MAX,
} from "../limits.ts";
import { listen } from "../runtime/listen.ts";
import { uuidV7 } from "../runtime/uuid.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { createApi } from "./api.ts";
import type { Config } from "./config.ts";
import { freeBytes, openFolders } from "./data-folder.ts";
import { copyProblem } from "./heads-folder.ts";
import { createReadiness, measureHealth, type Work } from "./health.ts";
import { HEALTH_REASONS } from "./health-reasons.ts";
import { openParts, type Parts } from "./parts.ts";
import { startProjector } from "./projector.ts";
import { type RunningSealer, startSealer } from "./sealer.ts";

export type Service = Awaited<ReturnType<typeof startService>>;

/** Throws RefusedError where the environment does not allow a start. */
export const startService = async (given: {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
}) => {
  const { config, logger } = given;
  const { roles, trustedHops } = config;
  await openFolders(config);
  await using stack = new AsyncDisposableStack();
  const metrics = createMetrics();
  const operation = { metrics, logger, trustedHops, newRequestId: uuidV7 };
  const listening = startListening(stack, config, createStartingApp({ ...operation, readiness: STARTING }));
  const parts = await openParts({ ...given, metrics, stack });
  const { connection, broker, adminKey, views, logEnd = 0 } = parts;
  if (isFirstKey(adminKey) && logEnd > 0) logger.error(KEYS_LOST);

  if (roles.includes("projector")) startProjector(parts);
  const sealer = roles.includes("sealer") ? await startSealer(parts) : undefined;
  const readiness = openHealth(parts, sealer);
  const api = roles.includes("api")
    ? await createApi(parts, { ...operation, readiness })
    : { handle: createOperationApp({ ...operation, readiness }), endStreams: () => {} };

  // A stop runs what follows from its last line to its first, and then what stands above.
  // After the requests have ended: background work would wait for each answer of a silent broker.
  stack.defer(() => connection.closeIfSilent());
  listening?.serve(api);
  // Before the requests end: those that wait for a silent broker are answered instead of cut off.
  stack.defer(() => connection.closeIfSilent());
  stack.defer(() => void delay(VIEWS_DRAIN_MS_MAX, undefined, { ref: false }).then(views.giveUp));
  const running = stack.move();
  const stop = (): Promise<void> => running.disposeAsync();
  return {
    /** Where it listens; undefined if it does not listen. */
    url: listening?.url,
    broker: connection.describe(),
    consumerUrlFile: broker.consumerUrlFile,
    adminKey,
    /** Stops accepting, finishes what was accepted, and ends what was started. */
    stop,
    [Symbol.asyncDispose]: stop,
  };
};

const starting = async () =>
  [{ id: "starting", detail: HEALTH_REASONS.starting.summary, isBlocking: true }] as const;
const STARTING: Readiness = { reasons: starting, reasonsWithoutViews: starting };

/** Listens before the process can serve, so that liveness checks succeed; `serve` replaces the starting handler. Undefined if it does not listen. */
const startListening = (
  stack: AsyncDisposableStack,
  { host, port }: Config,
  startingHandler: HttpHandler,
): { url: string; serve(api: { handle: HttpHandler; endStreams: () => void }): void } | undefined => {
  if (port === undefined) return undefined;
  let handle = startingHandler;
  const listener = listen({
    host,
    port,
    handle: (request, connections) => handle(request, connections),
    bodyBytesMax: CONNECTION_BODY_BYTES_MAX,
    idleMsMax: CONNECTION_IDLE_MS_MAX,
  });
  // For a start that fails.
  stack.defer(() => listener.stop(0));
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const shownHost = isEverywhere ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${listener.port}`,
    serve: (api) => {
      handle = api.handle;
      // Before everything that requests need is closed, and first the live streams, which have no end of their own.
      stack.defer(() => listener.stop(REQUEST_DRAIN_MS_MAX));
      stack.defer(api.endStreams);
    },
  };
};

/** What `/health/ready` and `/metrics` say of this process and its installation. */
const openHealth = (parts: Parts, sealer: RunningSealer | undefined): Readiness => {
  const { config, headsFolder, checkpoints, accepted, now } = parts;
  const work: Work = {
    sealer,
    countsStall: accepted.stall,
    copyProblem: async () => headsFolder && copyProblem(headsFolder, checkpoints),
    diskFree: () => freeBytes(config.dataDir),
    now,
  };
  const readiness = createReadiness({ ...parts, work });
  measureHealth(parts, work, readiness);
  return readiness;
};
