/** Which broker is used, the one that NATS_URL names or one of our own, and what a start needs from it before it can serve. */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { topology } from "../../streams/topology.ts";
import { type AdminKeySetup, setUpAdminKey } from "../access/admin-key.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { findBroker } from "../nats/broker/find.ts";
import { type Broker, startBroker } from "../nats/broker/supervise.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { madeAt } from "../nats/examine.ts";
import { createKeyBucket, type KeyBucket } from "../nats/key-bucket.ts";
import type { Logger } from "../telemetry/logger.ts";
import { inTime, waitAtStart } from "./background.ts";
import type { Config } from "./config.ts";
import { ownBrokerFiles } from "./data-folder.ts";
import { keepStreamsRight, type StreamsState } from "./stream-keeper.ts";

export type OwnBroker = Pick<Broker, "stageInMemory" | "untilReady" | "revive" | "distrust">;

export interface BrokerAddress extends AsyncDisposable {
  /** With the rights of the running service. */
  readonly serviceUrl: string;
  /** With the right to create and update streams. */
  readonly provisionUrl: string;
  /** A file with the URL for internal consumers, if the broker is our own. */
  readonly consumerUrlFile: string | undefined;
  /** Controls of the broker, if it is our own. */
  readonly own: OwnBroker | undefined;
}

export const provideBroker = async (parts: { config: Config; logger: Logger }): Promise<BrokerAddress> => {
  const { config, logger } = parts;
  const { natsUrl, natsProvisionUrl, natsServerBinary } = config;
  if (natsUrl !== undefined)
    return {
      serviceUrl: natsUrl,
      provisionUrl: natsProvisionUrl ?? natsUrl,
      consumerUrlFile: undefined,
      own: undefined,
      [Symbol.asyncDispose]: async () => {},
    };
  const found = await findBroker({ explicitBinary: natsServerBinary, environment: process.env, logger });
  if (found.kind === "refused") throw new BrokerRefusedError(found.message);
  const { directory, consumerUrl } = ownBrokerFiles(config);
  const broker = await startBroker({ binary: found.binary, directory, logger });
  return {
    serviceUrl: broker.url("service"),
    provisionUrl: broker.url("provisioner"),
    consumerUrlFile: consumerUrl,
    own: broker,
    [Symbol.asyncDispose]: () => broker.stop(),
  };
};

export interface BrokerContact extends AsyncDisposable {
  readonly connection: BrokerConnection;
  readonly streams: StreamsState;
  readonly keyBucket: KeyBucket;
  readonly adminKey: AdminKeySetup;
}

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
export const contactBroker = (contacting: Contacting): Promise<BrokerContact> =>
  waitAtStart({
    message: "waiting for the broker",
    logger: contacting.logger,
    attempt: () => tryOnce(contacting),
    refusalOf: (thrown) => {
      const { message, isFinal, isUnreachable } = asRefusal(thrown);
      const isElsewhere = isUnreachable && contacting.config.natsUrl !== undefined;
      const detail = isElsewhere ? `${message} ${SEE_URLS}` : message;
      return { error: new BrokerRefusedError(detail, { isFinal }), detail, isFinal };
    },
  });

const SEE_URLS =
  "See that NATS_URL, and NATS_PROVISION_URL where it is set, name the server, and that it runs.";

/** A server that listens is used then, even if it could not say so, as on a disk that was full for a moment. */
const READY_MS_MAX = 2000;

const tryOnce = async ({ config, logger, broker, now }: Contacting): Promise<BrokerContact> => {
  const definitions = topology({ replicas: config.replicas });
  const { own, provisionUrl, serviceUrl: url } = broker;
  const streams = await keepStreamsRight({ provisionUrl, definitions, logger });
  await own?.stageInMemory();
  await using stack = new AsyncDisposableStack();
  // A batch that came before its server was ready would be staged on disk, and all later ones with it.
  const beforeRestored = own && (() => inTime(own.untilReady(), READY_MS_MAX));
  const connection = stack.use(await connectToBroker({ url, name: "prooftrail", logger, beforeRestored }));
  if (config.natsProvisionUrl !== undefined) await refuseOtherLog(connection);
  stack.use(streams.watch(connection));
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
    throw new BrokerRefusedError(`The admin key could not be set up: ${adminKey.detail}.`, {
      isFinal: false,
    });
  const kept = stack.move();
  return { connection, streams, keyBucket, adminKey, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};

/** Two users of different accounts or servers. If the broker does not answer, a later step reports it. */
const refuseOtherLog = async ({ nats }: BrokerConnection): Promise<void> => {
  const made = await madeAt(nats, "AUDIT").catch(() => "unknown");
  if (made !== undefined) return;
  throw new BrokerRefusedError(
    `The user of NATS_URL does not find the streams that the one of NATS_PROVISION_URL makes. ${HAVE_ONE_LOG}`,
    { isFinal: false },
  );
};

export const HAVE_ONE_LOG = "Have both URLs name the same server or cluster, and their users in one account.";

/** Any error that is neither an answer of the broker nor a missing one is a fault of ours and is rethrown. */
const asRefusal = (error: unknown): BrokerRefusedError => {
  if (error instanceof BrokerRefusedError) return error;
  if (error instanceof LogUnavailableError)
    return new BrokerRefusedError(`The broker did not answer: ${error.message}.`, { isFinal: false });
  throw error;
};
