/** Somebody who administers the broker empties the stream of tree heads while the service runs. */
import { expect, test } from "bun:test";
import { nanos } from "nats";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

test("tree heads that are gone are told of, and the key that signs the next ones is given out again", async () => {
  await using broker = await startTestBroker();
  await using service = await startTestService(settingsFor(broker));
  const key = await service.makeKey("acme");
  const send = async (event_id: string) =>
    expect((await service.call("/v1/events", { key, body: event({ event_id }) })).status).toBe(202);
  const sealed = () =>
    until("it is sealed", async () => (await service.call("/v1/log/checkpoint", { key })).status === 200);
  const keyLines = async () => (await service.call("/v1/log/key", { key })).text;
  await send("evt_1");
  await sealed();
  const before = await keyLines();
  const provisioner = await connectAs(broker, "provisioner");
  const { streams } = await provisioner.jetstreamManager({ checkAPI: false });
  const { config } = await streams.info("CHECKPOINTS");
  await streams.update("CHECKPOINTS", { ...config, max_age: nanos(200), duplicate_window: nanos(100) });
  await until("it is empty", async () => (await streams.info("CHECKPOINTS")).state.messages === 0);
  await streams.update("CHECKPOINTS", config);
  await provisioner.close();
  await send("evt_2");
  await sealed();
  const told = service.lines.filter(
    ({ level, tenant, message }) => level === "error" && tenant === "acme" && message.includes("are gone"),
  );
  expect(told).toHaveLength(1);
  await until("the key is back", async () => (await keyLines()) === before, { timeoutMs: 15_000 });
});
