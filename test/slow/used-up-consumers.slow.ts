/** What somebody with the consumer's password can do to Prooftrail's own readers: nothing. */
import { expect, test } from "bun:test";
import { AckPolicy, type NatsConnection, NatsError } from "nats";
import { CONSUMERS_PER_STREAM_MAX } from "../../src/limits.ts";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const STREAMS = ["AUDIT", "CHECKPOINTS", "OBLIGATIONS"];

/** Makes durable consumers until the broker refuses one; returns how many there are, and the reason. */
const useUp = async (stranger: NatsConnection, stream: string): Promise<readonly [number, string]> => {
  const { consumers } = await stranger.jetstreamManager({ checkAPI: false });
  for (let made = 0; ; made++) {
    const durable = { durable_name: `mine-${made}`, ack_policy: AckPolicy.Explicit };
    const refused = await consumers.add(stream, durable).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refused instanceof NatsError) return [made, refused.message];
    if (made > CONSUMERS_PER_STREAM_MAX) throw new Error(`nothing bounds the consumers of ${stream}`);
  }
};

/** An event is in the views, and the monitor has compared it with what was signed. */
const worksWhole = async (service: TestService, eventId: string): Promise<void> => {
  const sent = await service.call("/v1/events", { body: event({ event_id: eventId }) });
  const { sequence } = sent.json.data;
  expect((await service.call(`/v1/events/${eventId}?min_sequence=${sequence}`)).status).toBe(200);
  await until(`the monitor has read ${eventId}`, async () => {
    const { text } = await service.call("/metrics");
    return Number(/^prooftrail_monitor_position (\d+)$/m.exec(text)?.[1]) >= sequence;
  });
  expect((await service.call("/health/ready")).status).toBe(200);
};

test("who has used up the consumers of every stream with the consumer's password neither stops the views nor the monitor, also after a restart", async () => {
  await using broker = await startTestBroker();
  const settings = settingsFor(broker);
  const stranger = await connectAs(broker, "consumer");
  {
    await using service = await startTestService(settings);
    await worksWhole(service, "evt_before");
    for (const stream of STREAMS)
      expect([stream, ...(await useUp(stranger, stream))]).toEqual([
        stream,
        CONSUMERS_PER_STREAM_MAX,
        "maximum consumers limit reached",
      ]);
    await worksWhole(service, "evt_used_up");
    // Whatever consumers there are, none is ours. Those of the keys, which are, cannot be reached.
    const { consumers } = await stranger.jetstreamManager({ checkAPI: false, timeout: 300 });
    for (const stream of STREAMS)
      for (const { name } of await consumers.list(stream).next()) await consumers.delete(stream, name);
    await worksWhole(service, "evt_deleted");
    await expect(consumers.delete("KV_KEYS", "any")).rejects.toBeInstanceOf(NatsError);
    await expect(consumers.list("KV_KEYS").next()).rejects.toBeInstanceOf(NatsError);
    for (const stream of STREAMS) await useUp(stranger, stream);
  }
  await using restarted = await startTestService(settings);
  await worksWhole(restarted, "evt_restarted");
  await stranger.close();
});
