/** Counts of acknowledged events after every broker was stopped, and beside the streams of an earlier version. */
import { expect, test } from "bun:test";
import { RetentionPolicy, StorageType } from "nats";
import { createAcceptedCounter } from "../../src/nats/accepted-counter.ts";
import { reconcileStreams } from "../../src/nats/reconcile.ts";
import { topology } from "../../streams/topology.ts";
import { connectionTo, silentLogger } from "../support/broker.ts";
import { NODES, startTestCluster, type TestCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

const HOUR = "2026-11-20T10";
const TENANTS = Array.from({ length: 40 }, (_, index) => `tenant-${index}`);

const connect = (cluster: TestCluster, user: "service" | "provisioner") => connectionTo(cluster, user);

test("the counts of a cluster are there after all brokers were stopped in order, and after all were killed", async () => {
  await using cluster = await startTestCluster();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await using connection = await connect(cluster, "service");
    const counter = createAcceptedCounter({ connection, logger: silentLogger });
    for (const tenant of TENANTS) counter.add({ tenant, receivedAt: `${HOUR}:00:00.000Z`, events: 2 });
    await until("all is stored", async () => {
      await counter.close();
      return (await counter.tenants(HOUR).catch(() => [])).length === TENANTS.length;
    });
    const read = () => counter.read("tenant-7", [HOUR]).catch(() => undefined);
    const before = await until("the count is read", read);
    await cluster.untilCaughtUp();
    for (const node of NODES) await cluster.kill(node, signal);
    await Promise.all(NODES.map((node) => cluster.start(node)));
    expect([signal, await until("it is read again", read)]).toEqual([signal, before]);
    expect((await counter.tenants(HOUR)).toSorted()).toEqual(TENANTS.toSorted());
  }
});

test("a cluster with the counts of v0.1.0 in memory gets the new stream, and the old one takes no memory any more", async () => {
  await using cluster = await startTestCluster();
  await using provisioner = await connect(cluster, "provisioner");
  const manager = await provisioner.nats.jetstreamManager({ checkAPI: false });
  const earlier = {
    name: "ACCEPTED",
    subjects: ["accepted.>"],
    storage: StorageType.Memory,
    retention: RetentionPolicy.Limits,
    num_replicas: 3,
    max_msgs_per_subject: 1,
    max_msg_size: 1024,
    allow_msg_counter: true,
    allow_direct: true,
  };
  await manager.streams.add(earlier);
  const reconcile = () =>
    reconcileStreams({
      provisioner: provisioner.nats,
      definitions: topology({ replicas: 3 }),
      logger: silentLogger,
    });
  expect(await reconcile()).toMatchObject({ kind: "agreed" });
  expect((await manager.streams.info("ACCEPTED")).config).toMatchObject({ max_msgs: 1, storage: "memory" });
  expect((await manager.streams.info("COUNTS")).config).toMatchObject({ storage: "file", num_replicas: 3 });
  expect(await reconcile()).toMatchObject({ kind: "agreed", updated: [] });
});
