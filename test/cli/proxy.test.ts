/** Proxies in the environment: none is asked for this machine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { runCli } from "../support/cli.ts";

const HEADERS = { "content-type": "application/json", "x-request-id": "req_1" };
const asked: string[] = [];
let service: Server;
let proxy: Server;

const listen = async (server: Server, host?: string): Promise<Server> => {
  await new Promise<void>((done) => server.listen(0, host, done));
  return server;
};

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  service = await listen(
    createServer((_, response) => {
      response.writeHead(200, HEADERS).end('{"data":{"keys":[],"next_cursor":null}}');
    }),
  );
  proxy = await listen(
    createServer(({ url = "" }, response) => {
      asked.push(url);
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
    }),
    "127.0.0.1",
  );
});
afterAll(() => {
  for (const server of [service, proxy]) server.close();
});

const keysOf = (url: string, environment: Readonly<Record<string, string>>) =>
  runCli(["keys", "list", "--json", "--url", url], {
    environment: { PROOFTRAIL_API_KEY: "ptk_a_b_c", ...environment },
  });

test.each(["127.0.0.1", "localhost", "127.8.9.10", "[::1]"])(
  "%s is asked directly, whatever proxies the environment names",
  async (host) => {
    const address = `http://127.0.0.1:${portOf(proxy)}`;
    for (const environment of [
      { HTTP_PROXY: address },
      { http_proxy: address, NO_PROXY: "example.com" },
      { ALL_PROXY: address, no_proxy: "" },
    ]) {
      const { code, err } = await keysOf(`http://${host}:${portOf(service)}`, environment);
      expect([code, err]).toEqual([0, ""]);
    }
    expect(asked).toEqual([]);
  },
);

test("another host is asked through the proxy, unless no_proxy names it", async () => {
  const HTTP_PROXY = `http://me:secret@127.0.0.1:${portOf(proxy)}`;
  const { err } = await keysOf("http://audit.invalid", { HTTP_PROXY, NO_PROXY: "other, .invalid" });
  expect([err, asked]).toEqual([
    expect.stringContaining("No answer from http://audit.invalid (--url): "),
    [],
  ]);
  const answered = await keysOf("http://audit.example", { HTTP_PROXY });
  expect(answered.err).toContain("http://audit.example (--url) answered with status 502");
  expect(answered.err).not.toContain("secret");
  expect(asked).toEqual([expect.stringContaining("http://audit.example/v1/keys")]);
});
