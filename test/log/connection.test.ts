import { expect, test } from "bun:test";
import { connectToBroker } from "../../src/nats/connection.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";

test.concurrent("a connection that came back counts as lost until its broker is ready, and if it is lost again meanwhile, until the next is", async () => {
  await using broker = await startTestBroker();
  using proxy = await startProxy(broker.port);
  const waits: Array<() => void> = [];
  await using connection = await connectToBroker({
    url: broker.url("service").replace(String(broker.port), String(proxy.port)),
    name: "test",
    logger: silentLogger,
    beforeRestored: () => new Promise((resolve) => void waits.push(resolve)),
  });
  const changes: string[] = [];
  using _ = connection.onChange((state) => void changes.push(state));
  expect(connection.isConnected()).toBe(true);
  for (const losses of [1, 2]) {
    proxy.cut();
    await until("nats.js is connected", () => waits.length === losses);
    expect(connection.isConnected()).toBe(false);
  }
  waits[0]?.();
  await connection.nats.flush();
  expect([connection.isConnected(), changes]).toEqual([false, ["lost"]]);
  waits[1]?.();
  await until("it is connected", () => connection.isConnected());
  expect(changes).toEqual(["lost", "restored"]);
});

test.concurrent("each missing permission is reported once, however often it is needed", async () => {
  await using broker = await startTestBroker();
  const details: unknown[] = [];
  const warn = (_: string, fields?: { detail?: unknown }): void => void details.push(fields?.detail);
  await using connection = await connectToBroker({
    url: broker.url("service"),
    name: "test",
    logger: { ...silentLogger, warn },
  });
  for (const subject of ["not.ours", "not.ours", "nor.this", "not.ours"]) {
    connection.nats.publish(subject);
    await connection.nats.flush();
  }
  await until("the last is told", () => String(details.at(-1)).includes("nor.this"));
  expect(details).toEqual([
    "PERMISSIONS_VIOLATION: publish not.ours (this version needs what streams/permissions.ts allows)",
    "PERMISSIONS_VIOLATION: publish nor.this (this version needs what streams/permissions.ts allows)",
  ]);
});
