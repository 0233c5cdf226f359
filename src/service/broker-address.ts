/** Which broker to use: the one that NATS_URL names, or one of our own. */
import process from "node:process";
import { findBroker } from "../nats/broker/find.ts";
import { type Broker, startBroker } from "../nats/broker/supervise.ts";
import { BrokerRefusedError } from "../nats/connection.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Config } from "./config.ts";
import { ownBrokerFiles } from "./data-folder.ts";

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

export const provideBroker = async ({
  config,
  logger,
}: {
  config: Config;
  logger: Logger;
}): Promise<BrokerAddress> => {
  const { natsUrl, natsProvisionUrl, natsServerBinary, dataDir } = config;
  if (natsUrl !== undefined) {
    return {
      serviceUrl: natsUrl,
      provisionUrl: natsProvisionUrl ?? natsUrl,
      consumerUrlFile: undefined,
      own: undefined,
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const found = await findBroker({ explicitBinary: natsServerBinary, environment: process.env, logger });
  if (found.kind === "refused") throw new BrokerRefusedError(found.message);
  const { directory, consumerUrl } = ownBrokerFiles({ dataDir });
  const broker = await startBroker({ binary: found.binary, directory, logger });
  return {
    serviceUrl: broker.url("service"),
    provisionUrl: broker.url("provisioner"),
    consumerUrlFile: consumerUrl,
    own: broker,
    [Symbol.asyncDispose]: () => broker.stop(),
  };
};
