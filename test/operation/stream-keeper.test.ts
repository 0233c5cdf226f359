import { expect, test } from "bun:test";
import type { BrokerConnection } from "../../src/jetstream/connection.ts";
import { keepStreamsRight } from "../../src/service/stream-keeper.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";

test("what is wrong with the streams is told once, however often it is looked for again", async () => {
  await using broker = await startTestBroker();
  using proxy = await startProxy(broker.port);
  const errors: (string | undefined)[] = [];
  const state = await keepStreamsRight({
    provisionUrl: broker.url("provisioner").replace(String(broker.port), String(proxy.port)),
    definitions: topology({ replicas: 1 }),
    logger: { ...silentLogger, error: (_message, fields) => errors.push(fields?.detail) },
  });
  let restored = (): void => {};
  const connection: Pick<BrokerConnection, "isConnected" | "onChange"> = {
    isConnected: () => true,
    onChange: (listener) => {
      restored = () => listener("restored");
      return { [Symbol.dispose]: () => {} };
    },
  };
  using _watching = state.watch(connection);
  await broker.stop();
  const before = proxy.taken();
  restored();
  await until("it has looked again several times", () => proxy.taken() >= before + 4);
  expect(errors).toEqual([state.problem()]);
  expect(state.problem()).toContain("could not be checked");
});
