import { expect, test } from "bun:test";
import { type BrokerConnection, BrokerRefusedError } from "../../src/nats/connection.ts";
import { keepStreams, reconcile } from "../../src/service/stream-keeper.ts";
import type { Logger } from "../../src/telemetry/logger.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { startConfiguredBroker } from "../support/configured-broker.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";

test("a problem with the streams is reported once, however often it is checked again", async () => {
  await using broker = await startTestBroker();
  using proxy = await startProxy(broker.port);
  const errors: (string | undefined)[] = [];
  const logger: Logger = { ...silentLogger, error: (_message, fields) => errors.push(fields?.detail) };
  const keeper = {
    provisionUrl: broker.url("provisioner").replace(String(broker.port), String(proxy.port)),
    definitions: topology({ replicas: 1 }),
    logger,
  };
  await reconcile(keeper);
  const listeners: ((state: "restored") => void)[] = [];
  const connection: Pick<BrokerConnection, "isConnected" | "onChange"> = {
    isConnected: () => true,
    onChange: (listener) => {
      listeners.push(listener);
      return { [Symbol.dispose]: () => {} };
    },
  };
  using state = keepStreams(keeper, connection);
  await broker.stop();
  const before = proxy.taken();
  for (const listener of listeners) listener("restored");
  await until("it has looked again several times", () => proxy.taken() >= before + 4);
  expect(state.troubles()).toMatchObject([{ id: "streams_wrong", detail: errors[0] }]);
  expect(errors).toEqual([expect.stringContaining("could not be checked")]);
});

test.each([
  ["max_memory_store", "400 MiB of memory"],
  ["max_file_store", "2048 MiB of disk"],
])(
  "the start waits for a broker whose %s is too small for the streams, and the error names the setting",
  async (setting, lacking) => {
    await using broker = await startConfiguredBroker((configuration) =>
      configuration
        // A single server does not start with an account that may use more than itself.
        .replace(/max_memory: \d+/, "max_memory: -1")
        .replace(new RegExp(`${setting}: \\d+`), `${setting}: ${2 ** 26}`),
    );
    const refused = await reconcile({
      provisionUrl: broker.url("provisioner"),
      definitions: topology({ replicas: 1 }),
      logger: silentLogger,
    }).catch((error: unknown) => error);
    if (!(refused instanceof BrokerRefusedError)) throw new Error(`it was not refused: ${refused}`);
    expect(refused.isFinal).toBe(false);
    expect(refused.message).toContain(`lacks the ${lacking}`);
    expect(refused.message).toContain(`Set ${setting} in its jetstream block`);
  },
);
