/** Three replicated brokers. They differ from one broker in that an answer may not be known yet. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Outcome } from "../../src/log/outcome.ts";
import { createCheckpointStream } from "../../src/nats/checkpoint-stream.ts";
import type { BrokerConnection } from "../../src/nats/connection.ts";
import { createKeyBucket } from "../../src/nats/key-bucket.ts";
import { createLogReader } from "../../src/nats/reader.ts";
import { reconcileStreams } from "../../src/nats/reconcile.ts";
import { createRetentionBucket } from "../../src/nats/retention-bucket.ts";
import { reconcile } from "../../src/service/stream-keeper.ts";
import { topology } from "../../streams/topology.ts";
import { someRecord } from "../access/key-store-suite.ts";
import { connectionTo, silentLogger } from "../support/broker.ts";
import { startTestCluster, type TestCluster } from "../support/cluster.ts";
import { appenderOn, smallRecord } from "../support/log.ts";
import { until } from "../support/until.ts";

let cluster: TestCluster;
let connections: readonly BrokerConnection[];
beforeAll(async () => {
  cluster = await startTestCluster();
  const connection = () => connectionTo(cluster);
  connections = await Promise.all([connection(), connection(), connection()]);
});
afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await cluster[Symbol.asyncDispose]();
});

const sequenceOf = (outcome: Outcome | undefined): number | undefined =>
  outcome && "sequence" in outcome ? outcome.sequence : undefined;

test("when three front ends write the same key, hold or tree head at once, one succeeds, and the others learn of it", async () => {
  await using stack = new AsyncDisposableStack();
  const stores = await Promise.all(
    connections.map(async (connection) => ({
      keys: stack.use(
        await createKeyBucket({
          connection,
          logger: silentLogger,
          elapsedMs: () => performance.now(),
        }),
      ),
      retention: createRetentionBucket({ connection, logger: silentLogger }),
      checkpoints: await createCheckpointStream(connection),
    })),
  );
  const first = await Promise.all(
    stores.map(({ checkpoints }, index) =>
      checkpoints.addFirstPublicKey(new Uint8Array(32).fill(100 + index)),
    ),
  );
  expect([...first].sort()).toEqual([false, false, true]);
  for (let round = 0; round < 10; round++) {
    const key = someRecord();
    const hold = {
      id: `hold-${round}`,
      tenant: "acme",
      asset_id: "a",
      reason: "r",
      created_at: key.created_at,
      created_by: "admin",
    };
    const writes = [
      await Promise.all(stores.map(({ keys }) => keys.create(key))),
      await Promise.all(stores.map(({ retention }) => retention.createHold(hold))),
    ];
    const kinds = writes.map((write) => write.map(({ kind }) => kind).sort());
    expect(kinds).toEqual(writes.map(() => ["conflict", "conflict", "written"]));
    const heads = await Promise.all(
      stores.map(({ checkpoints }) => checkpoints.write(`t${round}`, "note", 0)),
    );
    expect(heads.sort()).toEqual([false, false, true]);
    const publicKey = new Uint8Array(32).fill(round);
    await Promise.all(stores.map(({ checkpoints }) => checkpoints.addPublicKey(publicKey)));
  }
});

test("when three front ends send the same event at once, it is stored once, and no answer names a sequence before one exists", async () => {
  const appenders = connections.map((connection) => appenderOn(connection));
  for (let round = 0; round < 30; round++) {
    const records = Array.from({ length: 1 + (round % 5) * 10 }, (_, index) =>
      smallRecord(`r${round}-${index}`),
    );
    const answers = await Promise.all(appenders.map((appender) => appender.append(records)));
    for (const index of records.keys()) {
      const sequences = answers.map((outcomes) => sequenceOf(outcomes[index]));
      expect(sequences[0]).toBeGreaterThan(0);
      expect(new Set(sequences).size).toBe(1);
    }
  }
  const [connection] = connections;
  if (!connection) throw new Error("there are three");
  const last = await (await createLogReader(connection)).lastSequence();
  expect(last).toBe(
    Array.from({ length: 30 }, (_, round) => 1 + (round % 5) * 10).reduce((sum, count) => sum + count, 0),
  );
});

test("if a stream must not be changed, another number of copies is refused before anything changes; else every stream gets it", async () => {
  await using provisioner = await connectionTo(cluster, "provisioner");
  const manager = await provisioner.nats.jetstreamManager({ checkAPI: false });
  const copies = async () =>
    Promise.all(
      topology({ replicas: 1 }).map(
        async ({ name }) => (await manager.streams.info(name)).config.num_replicas,
      ),
    );
  const before = await copies();
  expect(new Set(before)).toEqual(new Set([3]));
  const wanted = topology({ replicas: 1 });
  const [first, ...others] = wanted;
  if (first === undefined) throw new Error("there is a log");
  const asked = { provisioner: provisioner.nats, logger: silentLogger };
  const otherStorage = [...others, { ...first, settings: { ...first.settings, storage: "memory" as const } }];
  expect(await reconcileStreams({ ...asked, definitions: otherStorage })).toEqual({
    kind: "refused",
    differences: [{ stream: "AUDIT", setting: "storage", wanted: '"memory"', found: '"file"' }],
  });
  expect(await copies()).toEqual(before);
  const refused = reconcile({
    provisionUrl: cluster.url("provisioner"),
    definitions: otherStorage,
    logger: silentLogger,
  });
  await expect(refused).rejects.toThrow("AUDIT.storage");
  await until("every stream has one copy", async () => {
    await reconcileStreams({ ...asked, definitions: wanted });
    return (await copies()).every((count) => count === 1);
  });
});
