import { expect, test } from "bun:test";
import { connectToBroker } from "../../src/nats/connection.ts";
import { createRateCounter } from "../../src/nats/rate-counter.ts";
import { settingsFor, silentLogger, startTestBroker } from "../support/broker.ts";
import { provision } from "../support/log.ts";
import { startProxy } from "../support/proxy.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

test("the limit of a key is shared by two front ends on one broker, and does not affect other keys", async () => {
  await using broker = await startTestBroker();
  const environment = settingsFor(broker);
  await using one = await startTestService(environment);
  await using other = await startTestService(environment);
  const made = await one.call("/v1/keys", {
    body: { tenant: "acme", scopes: ["events:read"], rate_limit: { requests_per_second: 8 } },
  });
  const key = made.json.data.api_key;
  const free = await one.makeKey("acme");
  await until(
    "both front ends know the key",
    async () => (await other.call("/v1/events", { key })).status === 200,
  );
  await until("a second has just begun", () => Date.now() % 1000 < 30);
  const second = Math.floor(Date.now() / 1000);
  const answers = await Promise.all(
    Array.from({ length: 120 }, (_, index) => (index % 2 === 0 ? one : other).call("/v1/events", { key })),
  );
  const passed = answers.filter(({ status }) => status === 200).length;
  const seconds = Math.floor(Date.now() / 1000) - second + 1;
  expect(passed).toBeLessThanOrEqual(8 * seconds);
  // What was asked before counts for a part.
  expect(passed).toBeGreaterThanOrEqual(3);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect((await other.call("/v1/events", { key: free })).status).toBe(200);
});

test("a batch of one front end counts at every other", async () => {
  await using broker = await startTestBroker();
  const environment = settingsFor(broker);
  await using one = await startTestService(environment);
  await using other = await startTestService(environment);
  const made = await one.call("/v1/keys", {
    body: { tenant: "acme", scopes: ["events:read", "events:write"], rate_limit: { events_per_second: 5 } },
  });
  const key = made.json.data.api_key;
  await until(
    "the other front end knows the key",
    async () => (await other.call("/v1/events", { key })).status === 200,
  );
  const events = Array.from({ length: 1000 }, (_, index) => event({ event_id: `evt_${index}` }));
  expect((await one.call("/v1/events/batch", { key, body: { events } })).json.data.accepted).toBe(1000);
  const refused = await other.call("/v1/events", { key, body: event() });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 201);
});

test("a counter returns its value, or nothing if the broker refuses, is away or does not answer in time", async () => {
  await using broker = await startTestBroker();
  await provision(broker);
  using proxy = await startProxy(broker.port);
  const url = broker.url("service").replace(String(broker.port), String(proxy.port));
  const connection = await connectToBroker({ url, name: "test", logger: silentLogger });
  const counter = createRateCounter({ connection, logger: silentLogger });
  const second = { holder: "key", unit: "requests", window: 1_800_000_000 } as const;
  const values = [];
  for (const count of [4, 3, 0, -2]) values.push(await counter.add(second, count));
  values.push(await counter.add({ ...second, window: second.window + 1 }, 1));
  values.push(await counter.add({ ...second, unit: "events" }, 2));
  expect(values).toEqual([4, 7, 7, 5, 1, 2]);
  // Not a number that could be added.
  expect(await counter.add(second, Number.NaN)).toBeUndefined();
  proxy.mute();
  expect(await counter.add(second, 1)).toBeUndefined();
  const asked = counter.add(second, 1);
  proxy.cut();
  await until("the connection is lost", () => !connection.isConnected());
  expect(await asked).toBeUndefined();
  await connection.close();
});
