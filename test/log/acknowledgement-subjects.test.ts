/** A broker that puts domain and account into the subjects of acknowledgements and flow control (NATS ADR-15), as nats-server 2.14 does if configured so. */
import { expect, test } from "bun:test";
import { AckPolicy, connect } from "nats";
import { connectionTo } from "../support/broker.ts";
import { type ConfiguredBroker, startConfiguredBroker } from "../support/configured-broker.ts";
import { appenderOn, smallRecord } from "../support/log.ts";

const startNamingBroker = () =>
  startConfiguredBroker((configuration) => `${configuration}feature_flags {\n  js_ack_fc_v2: true\n}\n`);

const connectAsService = (broker: ConfiguredBroker) => connectionTo(broker);

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
