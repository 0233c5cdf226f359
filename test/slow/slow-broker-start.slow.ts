/** A start whose broker goes away, or stops answering, between two of its steps, as a cluster does while it elects a leader. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { startTestBroker, type TestBroker } from "../support/broker.ts";
import { dataFolder, type ServiceProcess, spawnService } from "../support/process.ts";
import { ADMIN_KEY, createCaller, event } from "../support/service.ts";
import { until } from "../support/until.ts";

/** A proxy in front of a broker; `onConnection` decides what happens to the connection with this number, from 1 on. */
const startProxy = async (
  brokerPort: number,
  onConnection: (number: number, client: Socket, join: () => Socket) => void,
) => {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  let connections = 0;
  const server = createServer((client) => {
    keep(client);
    onConnection(++connections, client, () => {
      const broker = keep(connect(brokerPort, "127.0.0.1"));
      broker.on("close", () => client.destroy());
      client.on("close", () => broker.destroy());
      broker.pipe(client);
      return broker;
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    connections: () => connections,
    [Symbol.dispose]: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

const spawnBehind = async (
  broker: TestBroker,
  proxyPort: number,
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> => {
  const url = new URL(broker.url("service"));
  url.port = String(proxyPort);
  const environment = {
    ADMIN_API_KEY: ADMIN_KEY,
    NATS_URL: url.href,
    NATS_PROVISION_URL: broker.url("provisioner"),
    ...settings,
  };
  return spawnService({ dataDir, environment });
};

const expectToServe = async (service: ServiceProcess): Promise<void> => {
  await service.untilReady();
  expect((await service.call("/v1/events", { body: event() })).status).toBe(202);
};

test("the start waits for a broker that went away after its streams were checked", async () => {
  await using broker = await startTestBroker();
  await using folder = await dataFolder();
  using proxy = await startProxy(broker.port, (number, client, join) => {
    if (number <= 2) client.destroy();
    else client.pipe(join());
  });
  await using service = await spawnBehind(broker, proxy.port, folder.path);
  await expectToServe(service);
  expect(service.output).toContain("waiting for the broker");
});

test("the start waits for a broker that stops answering after its greeting and is then lost", async () => {
  await using broker = await startTestBroker();
  await using folder = await dataFolder();
  let unanswered = "";
  let silent: Socket | undefined;
  using proxy = await startProxy(broker.port, (number, client, join) => {
    const upstream = join();
    if (number > 1) return void client.pipe(upstream);
    silent = client;
    let isGreeted = false;
    upstream.on("data", (bytes) => {
      isGreeted ||= bytes.includes("PONG");
    });
    client.on("data", (bytes) => {
      if (isGreeted) unanswered += bytes.toString("latin1");
      else upstream.write(bytes);
    });
  });
  await using service = await spawnBehind(broker, proxy.port, folder.path);
  await until("a second request shows that the first had no answer", () => {
    if (service.exitCode !== null)
      throw new Error(`the start ended with ${service.exitCode}: ${service.errors}`);
    return (unanswered.match(/^H?PUB /gm)?.length ?? 0) > 1;
  });
  silent?.destroy();
  await expectToServe(service);
  expect(proxy.connections()).toBeGreaterThan(1);
});

test("while it waits for a broker, the service is live but not ready and other requests must be retried; then it serves at the same port", async () => {
  await using broker = await startTestBroker();
  await using folder = await dataFolder();
  let isThere = false;
  using proxy = await startProxy(broker.port, (_number, client, join) => {
    if (isThere) client.pipe(join());
    else client.destroy();
  });
  // The port is free; there is no other way to know the port before the start is over.
  using free = await startProxy(0, () => {});
  const { port } = free;
  free[Symbol.dispose]();
  await using service = await spawnBehind(broker, proxy.port, folder.path, { PORT: String(port) });
  const ask = createCaller(`http://127.0.0.1:${port}`, ADMIN_KEY);
  const live = await until("it listens", () => ask("/health/live").catch(() => undefined));
  expect([live.status, live.json.data]).toEqual([200, { status: "live" }]);
  const ready = await ask("/health/ready");
  expect([ready.status, ready.json.code, ready.json.reasons]).toEqual([
    503,
    "not_ready",
    ["Starting: waiting for the broker or the database of the views, or opening them."],
  ]);
  for (const [path, options] of [
    ["/v1/events", { body: event() }],
    ["/v1/assets/a", {}],
    ["/v1/sandbox/ping", {}],
  ] as const) {
    const early = await ask(path, options);
    expect([early.status, early.json.code, early.headers.get("retry-after")]).toEqual([
      503,
      "log_unavailable",
      "1",
    ]);
    expect(early.headers.has("x-sandbox-watermark")).toBe(path.includes("sandbox"));
  }
  isThere = true;
  await expectToServe(service);
  expect(service.url).toEndWith(`:${port}`);
});
