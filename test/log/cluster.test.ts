/** The log on three replicated brokers: what differs from one broker is that an answer may not be known yet. */
import { expect, test } from "bun:test";
import { type BrokerConnection, connectToBroker } from "../../src/jetstream/connection.ts";
import { readLogState } from "../../src/jetstream/log-state.ts";
import { createLogReader } from "../../src/jetstream/reader.ts";
import type { Outcome } from "../../src/log/outcome.ts";
import { silentLogger } from "../support/broker.ts";
import { NODES, startTestCluster, type TestCluster } from "../support/cluster.ts";
import { appenderOn, smallRecord } from "../support/log.ts";
import { until } from "../support/until.ts";

const connectTo = (cluster: TestCluster): Promise<BrokerConnection> =>
  connectToBroker({ url: cluster.url("service"), name: "test", logger: silentLogger });

const sequenceOf = (outcome: Outcome | undefined): number | undefined =>
  outcome && "sequence" in outcome ? outcome.sequence : undefined;

test("twins at three front ends at once are stored once, and none is told a sequence before there is one", async () => {
  await using cluster = await startTestCluster();
  const connections = await Promise.all([connectTo(cluster), connectTo(cluster), connectTo(cluster)]);
  const appenders = connections.map(appenderOn);
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
  const last = await (await createLogReader(connections[0])).lastSequence();
  expect(last).toBe(
    Array.from({ length: 30 }, (_, round) => 1 + (round % 5) * 10).reduce((sum, count) => sum + count, 0),
  );

  await cluster.untilCaughtUp();
  expect((await readLogState(connections[0])).copies).toBe(3);
  const leader = await cluster.leader();
  const other = NODES.find((node) => node !== leader) ?? 0;
  await cluster.kill(other, "SIGKILL");
  await until("a copy is missing", async () => {
    const state = await readLogState(connections[0]).catch(() => undefined);
    return state?.copies === 2;
  });
  await Promise.all(connections.map((connection) => connection.close()));
}, 60_000);
