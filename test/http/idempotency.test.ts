/** The rows of DESIGN 3 that need more than a second request; the others are in ingestion.test.ts. */
import { expect, test } from "bun:test";
import { nanos } from "nats";
import { messageIdOfEvent } from "../../src/log/event-log.ts";
import { connectToBroker } from "../../src/nats/connection.ts";
import { settingsFor, silentLogger, startTestBroker } from "../support/broker.ts";
import { appenderOn, connectAs, smallRecord } from "../support/log.ts";
import { dataFolder, spawnService } from "../support/process.ts";
import { startProxy } from "../support/proxy.ts";
import { ADMIN_KEY, event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

test.concurrent("after the duplicate window the same id is stored again, and the views still show it once", async () => {
  await using broker = await startTestBroker();
  await using service = await startTestService({ ...settingsFor(broker) });
  const body = event({ event_id: "evt_window", metadata: { n: 1 } });
  const headers = { "idempotency-key": "k-window" };
  const send = (content: object) => service.call("/v1/events", { body: content, headers });

  expect((await send(body)).json.data).toMatchObject({ sequence: 1, duplicate: false });
  expect((await send(body)).json.data).toMatchObject({ sequence: 1, duplicate: true });
  // The stream's setting is ten minutes; from here on it is shorter.
  const provisioner = await connectAs(broker, "provisioner");
  const { streams } = await provisioner.jetstreamManager({ checkAPI: false });
  let windowMs = 200;
  const later = await until("the broker has forgotten the id", async () => {
    // Once is not always enough: the broker may not check its ids before their first ten minutes are over (measured on 2.15.1).
    await streams.update("AUDIT", { duplicate_window: nanos(windowMs++) });
    const answer = await send(body);
    return answer.json.data.duplicate ? undefined : answer;
  });
  await provisioner.close();
  expect(later.json.data.sequence).toBe(2);
  const other = event({ event_id: "evt_after" });
  const reused = await until("the key is free for another event", async () => {
    const answer = await send(other);
    return answer.status === 422 ? undefined : answer;
  });
  expect(reused.json.data).toMatchObject({ sequence: 3, duplicate: false });
  const shown = await service.call("/v1/events?order=asc&min_sequence=3");
  expect(shown.json.data.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 3]);
});

test.concurrent("if a front end is killed between the append and its answer, the retry gets the first sequence", async () => {
  await using broker = await startTestBroker();
  await using folder = await dataFolder();
  using proxy = await startProxy(broker.port);
  const start = (url: string) =>
    spawnService({
      dataDir: folder.path,
      environment: { ADMIN_API_KEY: ADMIN_KEY, NATS_URL: url, NATS_PROVISION_URL: broker.url("provisioner") },
    });
  const body = event({ event_id: "evt_killed" });
  {
    await using first = await start(broker.url("service").replace(String(broker.port), String(proxy.port)));
    await first.untilReady();
    const consumer = await connectAs(broker, "consumer");
    const { streams } = await consumer.jetstreamManager({ checkAPI: false });
    proxy.mute();
    const unanswered = first.call("/v1/events", { body }).catch(() => "no answer");
    await until("it is in the log", async () => (await streams.info("AUDIT")).state.last_seq === 1);
    await consumer.close();
    first.kill("SIGKILL");
    expect(await unanswered).toBe("no answer");
  }
  await using second = await start(broker.url("service"));
  await second.untilReady();
  const retry = await second.call("/v1/events", { body });
  expect([retry.status, retry.headers.get("idempotency-replayed")]).toEqual([202, "true"]);
  expect(retry.json.data).toMatchObject({ sequence: 1, duplicate: true });
});

/** The log has a record that no version of the program wrote, under the identity of an event that is sent again. */
test.concurrent("only the event whose stored record cannot be read is refused: the other events of its batch are answered", async () => {
  await using broker = await startTestBroker();
  const [NATS_URL, NATS_PROVISION_URL] = [broker.url("service"), broker.url("provisioner")];
  await using service = await startTestService({ NATS_URL, NATS_PROVISION_URL });
  await using connection = await connectToBroker({ url: NATS_URL, name: "stranger", logger: silentLogger });
  await appenderOn(connection).append([smallRecord(messageIdOfEvent("default", "evt_0"))]);
  const events = Array.from({ length: 40 }, (_, index) => event({ event_id: `evt_${index}` }));
  const send = () => service.call("/v1/events/batch", { body: { events } });
  for (const duplicates of [0, 39]) {
    const { json } = await send();
    expect(json.data).toMatchObject({ accepted: 39, rejected: 1, duplicates });
    expect(json.data.errors).toMatchObject([{ index: 0, code: "log_unavailable" }]);
  }
});
