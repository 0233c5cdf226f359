/** A consumer that delivers nothing although the log has more, like one on a replica that is behind. Here it is paused, which looks the same to its reader. */
import { expect, test } from "bun:test";
import { connectToBroker } from "../../src/jetstream/connection.ts";
import { createLogReader } from "../../src/jetstream/reader.ts";
import { silentLogger } from "../support/broker.ts";
import { startConfiguredBroker } from "../support/configured-broker.ts";
import { appenderOn, smallRecord } from "../support/log.ts";
import { until } from "../support/until.ts";

/** Our own broker, but its service may pause consumers. */
const startPausingBroker = () =>
  startConfiguredBroker((configuration) => {
    const service = 'user: "service"';
    const mayPublish = '"publish":{"allow":[';
    const [others = "", itself = ""] = configuration.split(service);
    const mayPause = itself.replace(mayPublish, () => `${mayPublish}"$JS.API.CONSUMER.PAUSE.AUDIT.*",`);
    return others + service + mayPause;
  });

test("a reader leaves a consumer that delivers nothing, and misses and repeats no message", async () => {
  await using broker = await startPausingBroker();
  await using connection = await connectToBroker({
    url: broker.url("service"),
    name: "test",
    logger: silentLogger,
  });
  const appender = appenderOn(connection);
  const append = (...ids: readonly string[]) => appender.append(ids.map((id) => smallRecord(id)));
  const reader = await createLogReader(connection);
  const stopping = new AbortController();
  const seen: number[] = [];
  const reading = (async () => {
    for await (const messages of reader.follow({ from: 1, messagesMax: 100, signal: stopping.signal }))
      seen.push(...messages.map(({ sequence }) => sequence));
  })();
  await append("a", "b", "c");
  await until("what is there is read", () => seen.length === 3);

  const { consumers } = await connection.nats.jetstreamManager({ checkAPI: false });
  const [paused = ""] = (await consumers.list("AUDIT").next()).map(({ name }) => name);
  const answer = await connection.nats.request(
    `$JS.API.CONSUMER.PAUSE.AUDIT.${paused}`,
    JSON.stringify({ pause_until: new Date(Date.now() + 3_600_000).toISOString() }),
  );
  expect(answer.json<{ paused?: boolean }>().paused).toBe(true);
  await append("d", "e");
  await until("it reads on", () => seen.length === 5);
  await append("f");
  await until("it follows as before", () => seen.length === 6);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  const names = (await consumers.list("AUDIT").next()).map(({ name }) => name);
  expect(names).toHaveLength(1);
  expect(names).not.toContain(paused);
  stopping.abort();
  await reading;
});
