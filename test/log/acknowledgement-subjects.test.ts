/** A broker that puts domain and account into the subjects of acknowledgements and flow control (NATS ADR-15), as nats-server 2.14 does if configured so. */
import { expect, test } from "bun:test";
import { AckPolicy, connect } from "nats";
import { connectToBroker } from "../../src/nats/connection.ts";
import { createKeyBucket } from "../../src/nats/key-bucket.ts";
import { silentLogger } from "../support/broker.ts";
import { type ConfiguredBroker, startConfiguredBroker } from "../support/configured-broker.ts";
import { appenderOn, smallRecord } from "../support/log.ts";

const startNamingBroker = () =>
  startConfiguredBroker((configuration) => `${configuration}feature_flags {\n  js_ack_fc_v2: true\n}\n`);

const connectAsService = (broker: ConfiguredBroker) =>
  connectToBroker({ url: broker.url("service"), name: "test", logger: silentLogger });

test("a consumer can acknowledge messages under these subjects", async () => {
  await using broker = await startNamingBroker();
  await using service = await connectAsService(broker);
  await appenderOn(service).append([smallRecord("a")]);
  const { host, username, password } = new URL(broker.url("consumer"));
  const nats = await connect({ servers: host, user: username, pass: password });
  const manager = await nats.jetstreamManager({ checkAPI: false });
  await manager.consumers.add("AUDIT", { durable_name: "mine", ack_policy: AckPolicy.Explicit });
  const message = await (await nats.jetstream().consumers.get("AUDIT", "mine")).next({ expires: 5000 });
  expect(message?.seq).toBe(1);
  expect(await message?.ackAck()).toBe(true);
  await nats.close();
});

test("the key store reads all keys even if the broker pauses for flow control", async () => {
  await using broker = await startNamingBroker();
  await using service = await connectAsService(broker);
  const jetstream = service.nats.jetstream();
  // 6 MiB: beyond some of that the broker waits for an answer from the reader.
  const put = (_: unknown, index: number) => jetstream.publish(`$KV.KEYS.any_${index}`, "x".repeat(15_000));
  await Promise.all(Array.from({ length: 400 }, put));
  await using bucket = await createKeyBucket({
    connection: service,
    logger: silentLogger,
    elapsedMs: () => performance.now(),
  });
  expect(bucket.readiness()).toEqual({ kind: "ready" });
});
