/** A real broker for one test, in its own directory, which is removed with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBroker } from "../../src/nats/broker/find.ts";
import { type Broker, startBroker } from "../../src/nats/broker/supervise.ts";
import { type BrokerConnection, connectToBroker } from "../../src/nats/connection.ts";
import type { Logger } from "../../src/telemetry/logger.ts";
import type { BrokerUser } from "../../streams/permissions.ts";

export type TestBroker = Broker & { readonly directory: string };

export const silentLogger: Logger = {
  isEnabled: () => false,
  request() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};

/** A connection with the permissions of this user. */
export const connectionTo = (
  broker: { url(user: BrokerUser): string },
  user: BrokerUser = "service",
): Promise<BrokerConnection> =>
  connectToBroker({ url: broker.url(user), name: "test", logger: silentLogger });

/** The settings with which a service uses this broker, with exactly the permissions that it needs. */
export const settingsFor = ({ url }: Pick<Broker, "url">) => ({
  NATS_URL: url("service"),
  NATS_PROVISION_URL: url("provisioner"),
});

let binary: Promise<string> | undefined;

/** Path of the nats-server for all tests: found as the service finds it, so that nothing must be installed by hand. */
export const testBrokerBinary = (): Promise<string> => {
  binary ??= findBroker({
    explicitBinary: process.env.NATS_SERVER_BIN,
    environment: process.env,
    logger: silentLogger,
  }).then((found) => found.binary);
  return binary;
};

/** When disposed, it is stopped and its directory removed: `await using broker = await startTestBroker()`. */
export const startTestBroker = async (): Promise<TestBroker> => {
  const path = await testBrokerBinary();
  const directory = await mkdtemp(join(tmpdir(), "prooftrail-broker-"));
  const broker = await startBroker({ binary: path, directory, logger: silentLogger });
  const dispose = async (): Promise<void> => {
    await broker.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return Object.assign(broker, { directory, [Symbol.asyncDispose]: dispose });
};
