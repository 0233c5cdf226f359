/** The request times of sandbox clients as they are stored. */
import { expect, test } from "bun:test";
import { createClientTimes } from "../../src/nats/client-times.ts";
import { type BrokerConnection, connectToBroker } from "../../src/nats/connection.ts";
import { reconcileStreams } from "../../src/nats/reconcile.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";

const connectTo = (url: string): Promise<BrokerConnection> =>
  connectToBroker({ url, name: "test", logger: silentLogger });

test("a written state is read back, and a write based on an older revision is refused", async () => {
  await using broker = await startTestBroker();
  await using provisioner = {
    nats: await connectAs(broker, "provisioner"),
    [Symbol.asyncDispose]: () => provisioner.nats.close(),
  };
  await reconcileStreams({
    provisioner: provisioner.nats,
    definitions: topology({ replicas: 1 }),
    logger: silentLogger,
  });
  await using connection = await connectTo(broker.url("service"));
  const store = createClientTimes({ connection, logger: silentLogger });
  expect(await store.read("ip_1")).toEqual({ times: [], revision: 0 });
  const times = Array.from({ length: 100 }, (_, index) => 1_763_800_000_000 + index * 0.25);
  const written = await store.write("ip_1", { times, revision: 0 });
  if (written.kind !== "written") throw new Error(written.kind);
  expect(await store.read("ip_1")).toEqual({ times, revision: written.revision });
  expect(await store.read("ip_2")).toEqual({ times: [], revision: 0 });
  expect(await store.write("ip_1", { times: [], revision: 0 })).toEqual({ kind: "conflict" });
  expect((await store.write("ip_1", { times: [1], revision: written.revision })).kind).toBe("written");
});
