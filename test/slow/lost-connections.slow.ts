/** Connections to a broker that stands still. */
import { expect, test } from "bun:test";
import { connectToBroker } from "../../src/nats/connection.ts";
import { connectionTo, silentLogger, startTestBroker } from "../support/broker.ts";
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

test.concurrent("a broker that stops reading is known to be lost, however much waits to be sent", async () => {
  await using broker = await startTestBroker();
  await using connection = await connectionTo(broker);
  await standStill(broker.pid);
  const message = new Uint8Array(1024 * 1024);
  // This is more than the kernel takes for a socket.
  for (let sent = 0; sent < 32; sent++) connection.nats.publish("audit.acme.a.asset.created", message);
  await until("the connection is known to be lost", () => !connection.isConnected());
  process.kill(broker.pid, "SIGCONT");
  await until("it is connected", () => connection.isConnected());
});
