/** The option `proxy`: requests go through it, whatever the environment says, and messages name it. */
import assert from "node:assert/strict";
import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { createClient, type Problem } from "prooftrail-sdk";
import { until } from "../../support/until.ts";
import { event, NOWHERE } from "./events.ts";
import { takeAll, withScriptedService } from "./scripted-service.ts";

/** A proxy that forwards requests (RFC 9112 §3.2.2) and opens tunnels (RFC 9110 §9.3.6), and notes both. */
const withProxy = async (
  use: (proxy: { readonly port: number; readonly asked: string[] }) => Promise<void>,
) => {
  const asked: string[] = [];
  const tunnels: Duplex[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`);
    const { method, headers } = request;
    const further = forward(request.url ?? "", { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    request.pipe(further);
  });
  server.on("connect", ({ url = "" }, client) => {
    asked.push(`CONNECT ${url}`);
    const { hostname, port } = new URL(`http://${url}`);
    const further = connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 Connected\r\n\r\n");
      client.pipe(further).pipe(client);
    });
    tunnels.push(client, further);
    for (const socket of [client, further]) socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await use({ port, asked });
  } finally {
    for (const socket of tunnels) socket.destroy();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
};

const MEMORY = { memory: true } as const;

test("a client with a proxy sends through it, with its user and password", () =>
  withProxy(({ port, asked }) =>
    withScriptedService(takeAll, async ({ url, eventIds: _, ...service }) => {
      const proxy = `http://user:p%40ss@127.0.0.1:${port}`;
      const client = createClient({ url, apiKey: "k", outbox: MEMORY, proxy });
      // Large enough to be compressed.
      client.capture(event({ event_id: "evt_1", metadata: { text: "x".repeat(5000) } }));
      assert.deepEqual(await client.close(), { kind: "flushed" });
      assert.deepEqual(
        service.asked.map(({ events }) => events.map(({ event_id }) => event_id)),
        [["evt_1"]],
      );
      const login = `Basic ${btoa("user:p@ss")}`;
      assert.deepEqual(asked, [`POST ${url}/v1/events/batch ${login}`]);
    }),
  ));

test("to a service with TLS the client opens a tunnel, so that the proxy reads nothing", () =>
  withProxy(async ({ port, asked }) => {
    await withScriptedService(takeAll, async ({ url }) => {
      const secure = url.replace("http:", "https:");
      const proxy = `http://127.0.0.1:${port}`;
      const client = createClient({
        url: secure,
        apiKey: "secret",
        outbox: MEMORY,
        proxy,
        onProblem: () => {},
      });
      client.capture(event());
      // Nobody speaks TLS behind the tunnel.
      await until("an attempt has failed", () => client.stats.failure !== undefined);
      const closed = await client.close({ timeoutMs: 1 });
      assert.ok(
        closed.kind === "pending" && closed.reason?.includes(`through the proxy ${proxy}`),
        JSON.stringify(closed),
      );
      assert.deepEqual([...new Set(asked)], [`CONNECT ${new URL(url).host}`]);
    });
  }));

test("where the proxy does not answer, the reason names it, without its password", async () => {
  const problems: Problem[] = [];
  const client = createClient({
    url: "http://audit.example",
    apiKey: "k",
    outbox: MEMORY,
    proxy: NOWHERE.replace("http://", "http://user:secret@"),
    onProblem: (problem) => problems.push(problem),
  });
  client.capture(event());
  await until("an attempt has failed", () => client.stats.failure !== undefined);
  const closed = await client.close({ timeoutMs: 1 });
  assert.ok(
    closed.kind === "pending" && closed.reason?.includes(`(through the proxy ${NOWHERE})`),
    JSON.stringify(closed),
  );
  assert.ok(!JSON.stringify(problems).includes("secret"));
});

test("a proxy that is no address is refused at once, and its text is not repeated", () => {
  for (const proxy of ["proxy.example:3128", "socks5://user:secret@proxy.example", ""])
    assert.throws(
      () => createClient({ url: NOWHERE, apiKey: "k", outbox: MEMORY, proxy }),
      (error: Error) =>
        error instanceof TypeError &&
        /^proxy is not the address/.test(error.message) &&
        !error.message.includes("secret"),
    );
});
