/**
 * What a start needs from the broker before it can serve. A cluster that elects a leader answers nothing for seconds, and a restarting
 * broker is gone for one. Either may happen between two steps, so all steps are retried until they succeed in a row.
 */
import { randomBytes } from "node:crypto";
import { topology } from "../../streams/topology.ts";
import { type AdminKeySetup, setUpAdminKey } from "../access/admin-key.ts";
import { createAdminKeyFile } from "../access/admin-key-file.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { type BrokerConnection, BrokerRefusedError, connectToBroker } from "../nats/connection.ts";
import { madeAt } from "../nats/examine.ts";
import { createKeyBucket, type KeyBucket } from "../nats/key-bucket.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { BrokerAddress } from "./broker-address.ts";
import type { Config } from "./config.ts";
import { inTime } from "./in-time.ts";
import { keepStreamsRight, type StreamsState } from "./stream-keeper.ts";
import { waitAtStart } from "./wait-at-start.ts";

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

/** Throws BrokerRefusedError: at once if waiting cannot help, otherwise after START_WAIT_MS_MAX. */
export const contactBroker = (contacting: Contacting): Promise<BrokerContact> =>
  waitAtStart({
    message: "waiting for the broker",
    logger: contacting.logger,
    attempt: () => tryOnce(contacting),
    refusalOf: (thrown) => {
      const refusal = asRefusal(thrown);
      const isElsewhere = refusal.isUnreachable && contacting.config.natsUrl !== undefined;
      const error = isElsewhere ? withAdvice(refusal) : refusal;
      return { error, detail: error.message, isFinal: error.isFinal };
    },
  });

/** A server that listens is used then, even if it could not say so, as on a disk that was full for a moment. */
const READY_MS_MAX = 2000;

const tryOnce = async ({ config, logger, broker, now }: Contacting): Promise<BrokerContact> => {
  const definitions = topology({ replicas: config.replicas });
  const streams = await keepStreamsRight({ provisionUrl: broker.provisionUrl, definitions, logger });
  await broker.own?.stageInMemory();
  await using stack = new AsyncDisposableStack();
  const { own } = broker;
  const connection = stack.use(
    await connectToBroker({
      url: broker.serviceUrl,
      name: "prooftrail",
      logger,
      // A batch that came before its server was ready would be staged on disk, and all later ones with it.
      beforeRestored: own && (() => inTime(own.untilReady(), READY_MS_MAX)),
    }),
  );
  if (config.natsProvisionUrl !== undefined) await refuseOtherLog(connection);
  stack.use(streams.watch(connection));
  const keyBucket = stack.use(
    await createKeyBucket({ connection, logger, elapsedMs: () => performance.now() }),
  );
  const adminKey = await setUpAdminKey({
    store: keyBucket,
    file: createAdminKeyFile(config.dataDir),
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

/**
 * Throws BrokerRefusedError if this user does not see the streams that the provisioner has made. If the broker does not answer, a later
 * step reports it.
 */
const refuseOtherLog = async ({ nats }: BrokerConnection): Promise<void> => {
  const made = await madeAt(nats, "AUDIT").catch(() => "unknown");
  if (made !== undefined) return;
  throw new BrokerRefusedError(
    `The user of NATS_URL does not find the streams that the one of NATS_PROVISION_URL makes. ${HAVE_ONE_LOG}`,
    { isFinal: false },
  );
};

/** Advice if two users do not see the same log. */
export const HAVE_ONE_LOG = "Have both URLs name the same server or cluster, and their users in one account.";

const withAdvice = ({ message, isFinal }: BrokerRefusedError): BrokerRefusedError =>
  new BrokerRefusedError(
    `${message} See that NATS_URL, and NATS_PROVISION_URL where it is set, name the server, and that it runs.`,
    { isFinal },
  );

/** Any error that is neither an answer of the broker nor a missing one is a fault of ours and is rethrown. */
const asRefusal = (error: unknown): BrokerRefusedError => {
  if (error instanceof BrokerRefusedError) return error;
  if (error instanceof LogUnavailableError)
    return new BrokerRefusedError(`The broker did not answer: ${error.message}.`, { isFinal: false });
  throw error;
};
