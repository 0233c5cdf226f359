/** A real broker for one test, in its own directory, which is removed with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBroker } from "../../src/nats/broker/find.ts";
import { type Broker, startBroker } from "../../src/nats/broker/supervise.ts";
import type { Logger } from "../../src/telemetry/logger.ts";

export interface TestBroker extends Broker {
  readonly directory: string;
}

export const silentLogger: Logger = {
  isEnabled: () => false,
  request() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};

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
  }).then((outcome) => {
    if (outcome.kind === "found") return outcome.binary;
    throw new Error(outcome.message);
  });
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
  return {
    url: broker.url,
    port: broker.port,
    version: broker.version,
    get pid() {
      return broker.pid;
    },
    stageInMemory: broker.stageInMemory,
    untilReady: broker.untilReady,
    revive: broker.revive,
    distrust: broker.distrust,
    stop: broker.stop,
    directory,
    [Symbol.asyncDispose]: dispose,
  };
};
