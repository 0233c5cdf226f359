/** An administrator of the broker empties the stream of tree heads while the service runs, or starts the service with another installation's keys. */
import { expect, test } from "bun:test";
import { nanos } from "nats";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

test("lost tree heads are reported, and only the key that signs the next ones is published again", async () => {
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
  const another = { CHECKPOINT_KEY: "02".repeat(32), CHECKPOINT_INTERVAL: "50ms", ROLES: "sealer" };
  await using stranger = await startTestService({ ...settingsFor(broker), ...another });
  await until("it knows that others have signed", () =>
    stranger.lines.some(({ message }) => message.startsWith("no tree head is signed: none of")),
  );
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
    ({ level, tenant, message }) => level === "error" && tenant === "acme" && message.includes("are missing"),
  );
  expect(told).toHaveLength(1);
  await until("the key is back", async () => (await keyLines()) === before);
});

test("another installation's keys are not published and sign nothing, not even a log without a tree head", async () => {
  await using broker = await startTestBroker();
  const startWith = (seed: string) =>
    startTestService({
      ...settingsFor(broker),
      CHECKPOINT_KEY: seed.repeat(32),
      CHECKPOINT_INTERVAL: "50ms",
    });
  const sending = async (service: TestService, tenant: string): Promise<string> => {
    const key = await service.makeKey(tenant);
    expect((await service.call("/v1/events", { key, body: event() })).status).toBe(202);
    return key;
  };
  const statusOfHead = async (service: TestService, key: string): Promise<number> =>
    (await service.call("/v1/log/checkpoint", { key })).status;
  let keys = "";
  {
    await using service = await startWith("01");
    const acme = await sending(service, "acme");
    await until("it is sealed", async () => (await statusOfHead(service, acme)) === 200);
    keys = (await service.call("/v1/log/key", { key: acme })).text;
  }
  {
    await using service = await startWith("02");
    const [acme, beta] = [await service.makeKey("acme"), await sending(service, "beta")];
    const refused = /prooftrail_seals_total\{outcome="refused"\} [1-9]/;
    await until("it is counted", async () => refused.test((await service.call("/metrics")).text));
    expect((await service.call("/v1/log/key", { key: acme })).text).toBe(keys);
    expect(await statusOfHead(service, beta)).toBe(404);
    const told = service.lines.filter(({ message }) => message.startsWith("no tree head is signed: none of"));
    expect(told).toMatchObject([{ level: "error" }]);
  }
  await using service = await startWith("01");
  const beta = await service.makeKey("beta");
  await until("it goes on", async () => (await statusOfHead(service, beta)) === 200);
});
