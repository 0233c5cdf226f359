/** The log on three replicated brokers: what differs from one broker is that an answer may not be known yet. */
import { expect, test } from "bun:test";
import { type BrokerConnection, connectToBroker } from "../../src/jetstream/connection.ts";
import { createLogReader } from "../../src/jetstream/reader.ts";
import type { Outcome } from "../../src/log/outcome.ts";
import { silentLogger } from "../support/broker.ts";
import { startTestCluster, type TestCluster } from "../support/cluster.ts";
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
  await Promise.all(connections.map((connection) => connection.close()));
}, 60_000);

test("when the leader is killed and while nodes are restarted one by one, nothing acknowledged is lost and nothing is stored twice", async () => {
  await using cluster = await startTestCluster();
  const connection = await connectTo(cluster);
  const appender = appenderOn(connection);
  const acknowledged = new Map<string, number>();
  let isRunning = true;
  let next = 0;
  const send = async (): Promise<void> => {
    while (isRunning) {
      const records = Array.from({ length: 20 }, () => smallRecord(`e${next++}`));
      // The same records until each has an answer, as a client does.
      for (let open = records; open.length > 0 && isRunning; ) {
        const outcomes = await appender.append(open);
        for (const [index, { messageId }] of open.entries()) {
          const sequence = sequenceOf(outcomes[index]);
          if (sequence !== undefined) acknowledged.set(messageId, sequence);
        }
        open = open.filter(({ messageId }) => !acknowledged.has(messageId));
        if (open.length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };
  const sending = Promise.all([send(), send(), send()]);
  const progress = async (what: string): Promise<void> => {
    const before = acknowledged.size;
    await until(`events are acknowledged ${what}`, () => acknowledged.size > before + 100, {
      timeoutMs: 30_000,
    });
  };
  await progress("at first");
  const leader = await cluster.leader();
  await cluster.kill(leader, "SIGKILL");
  await progress("by the two that are left");
  await cluster.start(leader);
  for (const node of [0, 1, 2] as const) {
    await cluster.kill(node, "SIGTERM");
    await progress(`without node ${node}`);
    await cluster.start(node);
  }
  await progress("by all three");
  isRunning = false;
  await sending;

  const reader = await createLogReader(connection);
  const last = await reader.lastSequence();
  const stored = new Map<string, number>();
  const stop = new AbortController();
  let expected = 1;
  for await (const group of reader.follow({ from: 1, messagesMax: 1000, signal: stop.signal })) {
    for (const message of group) {
      expect(message.sequence).toBe(expected++);
      const { id }: { id: string } = JSON.parse(new TextDecoder().decode(message.payload));
      expect(stored.has(id)).toBe(false);
      stored.set(id, message.sequence);
    }
    if (expected > last) stop.abort();
  }
  const wrong = [...acknowledged].filter(([id, sequence]) => stored.get(id) !== sequence);
  expect(wrong).toEqual([]);
  await connection.close();
}, 120_000);
