import { expect, test } from "bun:test";
import { COUNTS_DAYS_READ_AT_ONCE } from "../../src/limits.ts";
import { LogUnavailableError } from "../../src/log/event-log.ts";
import { createAcceptedCounter } from "../../src/nats/accepted-counter.ts";
import { connectToBroker } from "../../src/nats/connection.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { connectAs, provision } from "../support/log.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";

const open = async (url: string) => {
  const connection = await connectToBroker({ url, name: "test", logger: silentLogger });
  return { connection, counter: createAcceptedCounter({ connection, logger: silentLogger }) };
};

test("if a broker is killed between a count and its answer while another front end counts, the sum is right in the end", async () => {
  await using broker = await startTestBroker();
  await provision(broker);
  using proxy = await startProxy(broker.port);
  const url = broker.url("service");
  const front = await open(url.replace(String(broker.port), String(proxy.port)));
  const other = await open(url);
  const count = (events: number) => ({ tenant: "acme", receivedAt: "2026-11-20T10:00:00.000Z", events });
  const counted = async () => (await other.counter.read("acme", ["2026-11-20T10"])).get("2026-11-20T10");

  // There are more days than are read at once. From one to the next either the tenant or the hour changes.
  const hours = Array.from(
    { length: 3 * (COUNTS_DAYS_READ_AT_ONCE + 2) },
    (_, index) => `2026-11-${10 + Math.floor(index / 3)}T${String((index % 3) * 11).padStart(2, "0")}`,
  );
  for (const events of [1, 2])
    for (const [tenant, inTurn] of [
      ["beta", hours],
      ["gamma", hours.toReversed()],
    ] as const)
      for (const hour of inTurn) other.counter.add({ tenant, receivedAt: `${hour}:59:59.999Z`, events });

  proxy.mute();
  front.counter.add(count(5));
  await until("it is counted, and not answered", async () => (await counted()) === 5);
  other.counter.add(count(7));
  await until("the other one has counted", async () => (await counted()) === 12);
  process.kill(broker.pid, "SIGKILL");
  await until("the connection is lost", () => !front.connection.isConnected());
  proxy.unmute();
  await until("they are back", () => [front, other].every(({ connection }) => connection.isConnected()));
  front.counter.add(count(3));
  // The rest is handed over.
  await front.counter.close();
  expect(await until("counts are read again", () => counted().catch(() => undefined))).toBe(15);
  const all = new Map(hours.map((hour) => [hour, 3]));
  expect(await other.counter.read("beta", ["2026-11-09T23", ...hours])).toEqual(all);
  expect(await other.counter.read("gamma", hours)).toEqual(all);
  expect(await other.counter.tenants("2026-11-20T10")).toEqual(["acme"]);
  expect((await other.counter.tenants("2026-11-10T00")).toSorted()).toEqual(["beta", "gamma"]);
  await other.counter.close();
  await Promise.all([front, other].map(({ connection }) => connection.close()));
});

/** `close` hands over at once what is there; a second call hands over the rest. */
test("counts that nobody took, or that got no answer in time, are counted once when they are stored again", async () => {
  await using broker = await startTestBroker();
  await provision(broker);
  using proxy = await startProxy(broker.port);
  const url = broker.url("service");
  const { connection, counter } = await open(url.replace(String(broker.port), String(proxy.port)));
  const other = await open(url);
  const provisioner = await connectAs(broker, "provisioner");
  const { streams } = await provisioner.jetstreamManager({ checkAPI: false });
  const hour = "2026-11-20T10";
  const count = (events: number) => ({ tenant: "acme", receivedAt: `${hour}:00:00.000Z`, events });
  const counted = async () => (await other.counter.read("acme", [hour])).get(hour);

  counter.add(count(1));
  const closing = counter.close();
  await Promise.resolve();
  // While the first one is on its way.
  counter.add(count(2));
  await counter.close();
  await closing;
  expect(await counted()).toBe(3);

  const { config } = await streams.info("COUNTS");
  await streams.update("COUNTS", { ...config, subjects: ["elsewhere"] });
  counter.add(count(4));
  await counter.close();
  expect(counter.stall()).toBeDefined();
  await streams.update("COUNTS", config);
  await counter.close();
  expect([await counted(), counter.stall()]).toEqual([7, undefined]);

  proxy.mute();
  counter.add(count(8));
  // Of another group: it is not even tried, because the one before has no answer.
  counter.add({ ...count(16), tenant: "beta" });
  const unanswered = counter.close();
  await until("it is counted, and not answered", async () => (await counted()) === 15);
  proxy.cut();
  await unanswered;
  proxy.unmute();
  await until("the connection is back", () => connection.isConnected());
  await counter.close();
  expect([await counted(), await other.counter.read("beta", [hour])]).toEqual([15, new Map([[hour, 16]])]);
  await other.counter.close();
  await Promise.all([connection, other.connection, provisioner].map((each) => each.close()));
  // An unreadable count is not treated as zero.
  await expect(other.counter.read("acme", [hour])).rejects.toBeInstanceOf(LogUnavailableError);
  await expect(other.counter.tenants(hour)).rejects.toBeInstanceOf(LogUnavailableError);
});
