/** The request times of sandbox clients, replicated on three brokers. */
import { expect, test } from "bun:test";
import { createClientRateLimiter } from "../../src/access/client-rate-limit.ts";
import { createClientTimes } from "../../src/nats/client-times.ts";
import { type BrokerConnection, connectToBroker } from "../../src/nats/connection.ts";
import { silentLogger } from "../support/broker.ts";
import { startTestCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

const connectTo = (url: string): Promise<BrokerConnection> =>
  connectToBroker({ url, name: "test", logger: silentLogger });

/** Sends requests at once, over each connection in turn like several front ends, and returns how many passed. */
const askAll = async (connections: readonly BrokerConnection[], count: number, client: string) => {
  const limiters = connections.map((connection) =>
    createClientRateLimiter({
      store: createClientTimes({ connection, logger: silentLogger }),
      nowMs: () => Date.now(),
      perMinute: 100,
    }),
  );
  const asked = Array.from({ length: count }, (_, index) => limiters[index % limiters.length]?.take(client));
  const kinds = (await Promise.all(asked)).map((decision) => decision?.kind);
  return { allowed: kinds.filter((kind) => kind === "allowed").length, unknown: kinds.includes("unknown") };
};

test("over three front ends on three brokers exactly the allowed number passes, at once and in any order", async () => {
  await using cluster = await startTestCluster();
  const connections = await Promise.all([1, 2, 3].map(() => connectTo(cluster.url("service"))));
  // Brokers that have just elected their leaders may not answer in time, and then nothing is counted.
  await until(
    "each front end is answered",
    async () => !(await askAll(connections, 3, "192.0.2.99")).unknown,
  );
  for (let round = 1; round <= 5; round++) {
    const client = `192.0.2.${round}`;
    expect(await askAll(connections, 60, client)).toEqual({ allowed: 60, unknown: false });
    expect(await askAll(connections, 90, client)).toEqual({ allowed: 40, unknown: false });
    expect(await askAll(connections, 30, client)).toEqual({ allowed: 0, unknown: false });
  }
  await Promise.all(connections.map((connection) => connection.close()));
});
