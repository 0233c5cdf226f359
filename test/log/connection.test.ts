import { expect, test } from "bun:test";
import { connectToBroker } from "../../src/jetstream/connection.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { standStill } from "../support/process.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";

test.concurrent("of several connection attempts to a broker that is paused one stays, and nothing is received twice when the broker resumes", async () => {
  await using broker = await startTestBroker();
  using proxy = await startProxy(broker.port);
  await using connection = await connectToBroker({
    url: broker.url("service").replace(String(broker.port), String(proxy.port)),
    name: "test",
    logger: silentLogger,
  });
  const changes: string[] = [];
  using _ = connection.onChange((state) => void changes.push(state));
  await standStill(broker.pid);
  proxy.cut();
  await until("the first attempt is given up and a second begins", () => proxy.taken() === 3);
  await until("only the second is left", () => proxy.open() === 1);
  process.kill(broker.pid, "SIGCONT");
  await until("it is connected", () => connection.isConnected());
  await connection.nats.flush();
  expect([proxy.taken(), proxy.open(), changes]).toEqual([3, 1, ["lost", "restored"]]);
});

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

test.concurrent("a broker that stops reading is known to be lost within 15 s, however much waits to be sent", async () => {
  await using broker = await startTestBroker();
  await using connection = await connectToBroker({
    url: broker.url("service"),
    name: "test",
    logger: silentLogger,
  });
  await standStill(broker.pid);
  const message = new Uint8Array(1024 * 1024);
  // This is more than the kernel takes for a socket.
  for (let sent = 0; sent < 32; sent++) connection.nats.publish("audit.acme.a.asset.created", message);
  await until("the connection is known to be lost", () => !connection.isConnected());
  process.kill(broker.pid, "SIGCONT");
  await until("it is connected", () => connection.isConnected());
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
