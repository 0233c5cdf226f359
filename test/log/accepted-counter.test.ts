import { expect, test } from "bun:test";
import { createAcceptedCounter } from "../../src/jetstream/accepted-counter.ts";
import { connectToBroker } from "../../src/jetstream/connection.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { provision } from "../support/log.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";

test("a broker killed between a count and its answer, while another front end counts: too few may be counted, never too many", async () => {
  await using broker = await startTestBroker();
  await provision(broker);
  using proxy = await startProxy(broker.port);
  const open = async (url: string) => {
    const connection = await connectToBroker({ url, name: "test", logger: silentLogger });
    return { connection, counter: await createAcceptedCounter({ connection, logger: silentLogger }) };
  };
  const url = broker.url("service");
  const front = await open(url.replace(String(broker.port), String(proxy.port)));
  const other = await open(url);
  const count = (events: number) => ({ tenant: "acme", receivedAt: "2026-11-20T10:00:00.000Z", events });
  const counted = async () => (await other.counter.read("acme", ["2026-11-20T10"])).get("2026-11-20T10");

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
  // What is left is handed on.
  await front.counter.close();
  expect(await until("counts are read again", () => counted().catch(() => undefined))).toBe(15);
  await other.counter.close();
  await Promise.all([front, other].map(({ connection }) => connection.close()));
});
