/** Which broker is used, the one that NATS_URL names or one of our own, and what a start needs from it before it can serve. */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { topology } from "../../streams/topology.ts";
import { setUpAdminKey } from "../access/admin-key.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { brokerUrl, loadCredentials, readLastPort } from "../nats/broker/broker-files.ts";
import { findBroker } from "../nats/broker/find.ts";
import { type Broker, startBroker } from "../nats/broker/supervise.ts";
import { BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { createKeyBucket } from "../nats/key-bucket.ts";
import { isThere } from "../runtime/durable-file.ts";
import type { Logger } from "../telemetry/logger.ts";
import { inTime, waitAtStart } from "./background.ts";
import type { Config } from "./config.ts";
import { ownBrokerFiles } from "./data-folder.ts";
import { keepStreams, reconcile } from "./stream-keeper.ts";

export type OwnBroker = Pick<Broker, "stageInMemory" | "untilReady" | "revive" | "distrust">;

interface BrokerAddress extends AsyncDisposable {
  /** With the rights of the running service. */
  readonly serviceUrl: string;
  /** With the right to create and update streams. */
  readonly provisionUrl: string;
  /** A file with the URL for internal consumers, if the broker is our own. */
  readonly consumerUrlFile?: string;
  /** Controls of the broker, if it is our own. */
  readonly own?: OwnBroker;
}

export const provideBroker = async (parts: { config: Config; logger: Logger }): Promise<BrokerAddress> => {
  const { config, logger } = parts;
  const { natsUrl: serviceUrl, natsProvisionUrl = "", natsServerBinary: explicitBinary } = config;
  if (serviceUrl !== undefined)
    return { serviceUrl, provisionUrl: natsProvisionUrl, [Symbol.asyncDispose]: async () => {} };
  const { binary } = await findBroker({ explicitBinary, environment: process.env, logger });
  const { directory, consumerUrl: consumerUrlFile } = ownBrokerFiles(config);
  const own = await startBroker({ binary, directory, logger });
  return {
    serviceUrl: own.url("service"),
    provisionUrl: own.url("provisioner"),
    consumerUrlFile,
    own,
    [Symbol.asyncDispose]: own.stop,
  };
};

/** The addresses of the broker that a service with these settings uses, or why they are not known. Throws BrokerRefusedError. */
export const findRunningBroker = async (config: Config) => {
  const { natsUrl, natsProvisionUrl = "" } = config;
  if (natsUrl !== undefined)
    return (user: "service" | "provisioner") => (user === "service" ? natsUrl : natsProvisionUrl);
  const files = ownBrokerFiles(config);
  if (!(await isThere(files.credentials))) return `no broker has run in ${files.directory} yet`;
  const port = await readLastPort(files);
  if (port === undefined) return `${files.port} holds no broker port`;
  const credentials = await loadCredentials(files.credentials);
  return (user: "service" | "provisioner"): string => brokerUrl(user, credentials, port);
};

interface Contacting {
  readonly config: Config;
  readonly logger: Logger;
  readonly broker: BrokerAddress;
  readonly now: () => Date;
}

/**
 * A cluster that elects a leader answers nothing for seconds, and a restarting broker is gone for one. Either may happen between two steps, so all steps
 * are tried until they succeed in a row. Throws BrokerRefusedError.
 */
export const contactBroker = (contacting: Contacting): ReturnType<typeof tryOnce> =>
  waitAtStart("waiting for the broker", contacting.logger, () =>
    tryOnce(contacting).catch((error: unknown) => {
      throw asRefusal(error, contacting.config);
    }),
  );

const SEE_URLS =
  "Check that NATS_URL, and NATS_PROVISION_URL if set, name one server or cluster and users of one account, and that it runs.";

/** A server that listens is used then, even if it could not say so, as on a disk that was full for a moment. */
const READY_MS_MAX = 2000;

const tryOnce = async ({ config, logger, broker, now }: Contacting) => {
  const { own, provisionUrl, serviceUrl: url } = broker;
  const keeper = { provisionUrl, definitions: topology({ replicas: config.replicas }), logger };
  await reconcile(keeper);
  await own?.stageInMemory();
  await using stack = new AsyncDisposableStack();
  // A batch that came before its server was ready would be staged on disk, and all later ones with it.
  const beforeRestored = own && (() => inTime(own.untilReady(), READY_MS_MAX));
  const connection = stack.use(await connectToBroker({ url, name: "prooftrail", logger, beforeRestored }));
  const streams = stack.use(keepStreams(keeper, connection));
  const keyBucket = stack.use(
    await createKeyBucket({ connection, logger, elapsedMs: () => performance.now() }),
  );
  const adminKey = await setUpAdminKey({
    store: keyBucket,
    dataDir: config.dataDir,
    now,
    randomBytes,
    keyPrefix: config.apiKeyPrefix,
    configured: config.adminApiKey,
  });
  if (adminKey.kind === "unavailable")
    throw new LogUnavailableError(`the admin key could not be set up: ${adminKey.detail}`);
  const kept = stack.move();
  return { connection, streams, keyBucket, adminKey, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};

/** Any error that is neither an answer of the broker nor a missing one is a fault of ours and stays. */
const asRefusal = (error: unknown, { natsUrl }: Config): unknown => {
  const advice = natsUrl === undefined ? "" : ` ${SEE_URLS}`;
  if (error instanceof LogUnavailableError)
    return new BrokerRefusedError(`The broker did not answer: ${error.message}.${advice}`, {
      isFinal: false,
    });
  return error instanceof BrokerRefusedError && error.isUnreachable
    ? new BrokerRefusedError(`${error.message}${advice}`, { isFinal: false })
    : error;
};
