/** What a client may rely on, on every runtime. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { openEventSource } from "../support/event-source.ts";
import { dataFolder, processesNaming, type Runtime, spawnService } from "../support/process.ts";
import { openRaw } from "../support/raw-connection.ts";
import { type Answer, event } from "../support/service.ts";
import { LAST_CHUNK, openUntaken } from "../support/untaken-answer.ts";
import { until } from "../support/until.ts";

export const testHttpContract = (runtime: Runtime): void => {
  test(`on ${runtime}: events are taken, stored once, and returned as they were sent`, async () => {
    await using folder = await dataFolder();
    await using service = await spawnService({ dataDir: folder.path, runtime });
    await service.untilReady();
    const code = ({ status, json }: Answer) => [status, json.code];

    const text = `{ "n":12345678901234567890, "s":"\\u0000\\ud800😀", ${JSON.stringify(event({ event_id: "evt_exact" })).slice(1)}`;
    const sent = await service.call("/v1/events", { body: text });
    expect(sent.status).toBe(202);
    const again = await service.call("/v1/events", { body: text });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.json.data).toEqual({ ...sent.json.data, duplicate: true });
    const read = await service.call(`/v1/events/evt_exact?min_sequence=${sent.json.data.sequence}`);
    expect(read.text).toContain(`"event":${text}}`);

    const mixed = [
      event({ event_id: "evt_a" }),
      event({ event_id: "evt_b", risk_tier: 7 }),
      event({ event_id: "evt_c" }),
    ];
    const batch = await service.call("/v1/events/batch", { body: { events: mixed } });
    expect(batch.json.data).toMatchObject({
      accepted: 2,
      rejected: 1,
      errors: [{ index: 1, event_id: "evt_b" }],
    });
    const page = await service.call(
      `/v1/events?limit=2&event_type=decision.*&min_sequence=${batch.json.data.sequence}`,
    );
    expect(page.json.data.map((row: { event: { event_id: string } }) => row.event.event_id)).toEqual([
      "evt_c",
      "evt_a",
    ]);
    const rest = await service.call(
      `/v1/events?limit=2&event_type=decision.*&cursor=${page.json.next_cursor}`,
    );
    expect(rest.json).toMatchObject({ data: [{ sequence: 1 }], next_cursor: null });

    expect(
      code(await service.call("/v1/events", { body: { ...event({ event_id: "evt_a" }), asset_id: "b" } })),
    ).toEqual([409, "event_id_conflict"]);
    const headers = { "idempotency-key": "k" };
    await service.call("/v1/events", { body: event({ event_id: "evt_k1" }), headers });
    expect(code(await service.call("/v1/events", { body: event({ event_id: "evt_k2" }), headers }))).toEqual([
      422,
      "idempotency_key_reused",
    ]);
    for (const [coding, compress] of [
      ["gzip", gzipSync],
      ["zstd", zstdCompressSync],
    ] as const) {
      const compressed = new Uint8Array(compress(JSON.stringify(event({ event_id: `evt_${coding}` }))));
      const coded = { headers: { "content-encoding": coding } };
      expect((await service.call("/v1/events", { body: compressed, ...coded })).status).toBe(202);
      const cut = compressed.slice(0, -8);
      expect((await service.call("/v1/events", { body: cut, ...coded })).status).toBe(400);
      const bomb = new Uint8Array(compress(" ".repeat(20_000_000)));
      expect((await service.call("/v1/events", { body: bomb, ...coded })).status).toBe(413);
    }
    expect(code(await service.call("/v1/events", { body: "{" }))).toEqual([400, "invalid_json"]);
    expect(code(await service.call("/v1/events", { body: Uint8Array.of(0x22, 0xff, 0x22) }))).toEqual([
      400,
      "invalid_utf8",
    ]);
    expect(code(await service.call("/v1/events", { body: {}, key: null }))).toEqual([401, "missing_api_key"]);
    expect(code(await service.call("/v1/events", { body: "x".repeat(2_000_000) }))).toEqual([
      413,
      "payload_too_large",
    ]);
    expect(code(await service.call("/v1/events", { method: "PUT", body: {} }))).toEqual([
      405,
      "method_not_allowed",
    ]);

    const made = await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["events:read"] } });
    const { id, api_key } = made.json.data;
    expect((await service.call("/v1/events", { key: api_key })).json.data).toEqual([]);
    expect((await service.call(`/v1/keys/${id}`, { method: "DELETE" })).status).toBe(200);
    expect(code(await service.call("/v1/events", { key: api_key }))).toEqual([401, "invalid_api_key"]);

    const exported = await service.call("/v1/export");
    expect(exported.text).toContain(`"event":${text}}\n`);
    const authorized = {
      authorization: `Bearer ${readFileSync(join(folder.path, "admin.key"), "utf8").trim()}`,
    };
    const stream = await openEventSource(`${service.url}/v1/events/stream?after=0`, authorized);
    const count = exported.text.trim().split("\n").length;
    expect((await stream.take(count)).map(({ data }) => data).join("\n")).toBe(exported.text.trim());

    for (const path of [
      "/health/live",
      "/health/ready",
      "/docs",
      "/docs/json",
      "/docs/assets/swagger-ui.css",
      "/metrics",
    ]) {
      expect([path, (await service.call(path)).status]).toEqual([path, 200]);
    }
    const metrics = (await service.call("/metrics")).text;
    expect(metrics).toMatch(
      /^prooftrail_http_request_duration_seconds_bucket\{le="\+Inf",route="\/health\/live"\} 1$/m,
    );
    expect(metrics).toContain(`runtime="${runtime.toLowerCase()} `);
    // The page needs a bundler. The start prints its address only if it exists.
    const isPage = (await service.call("/sandbox")).status === 200;
    expect([runtime, isPage]).toEqual([runtime, runtime === "Bun"]);
    expect(service.errors.includes(`${service.url}/sandbox`)).toBe(isPage);
    // A name as short as a container's, and no name, as in a check by HTTP/1.0.
    for (const host of ["x", ""]) {
      for (const [path, told] of [
        ["/health/ready", "ready"],
        ["/v1/sandbox/ping", "watermark"],
      ] as const) {
        const reading = await openUntaken(service.url + path, { host, connection: "close" });
        const answer = await reading.text();
        expect([host, path, answer.split("\r\n")[0]]).toEqual([host, path, "HTTP/1.1 200 OK"]);
        expect(answer).toContain(told);
      }
    }
    // A method that may not be copied, and a URL with its scheme, as proxies send them.
    for (const [host, line, told] of [
      ["x", "TRACE /health/ready", '"method_not_allowed"'],
      ["localhost", "GET https://localhost/health/ready", '"ready"'],
      ["x", "GET https://x/v1/sandbox/ping", "watermark"],
    ] as const) {
      const asked = openRaw(service.url, `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect([line, await asked.answer()]).toEqual([line, expect.stringContaining(told)]);
    }
    // Neither an open stream nor a reader that takes nothing keeps it from stopping.
    const large = Array.from({ length: 60 }, (_, index) =>
      event({ event_id: `evt_large_${index}`, metadata: { padding: "x".repeat(200_000) } }),
    );
    const stored = await service.call("/v1/events/batch", { body: { events: large } });
    await service.call(`/v1/events?limit=1&min_sequence=${stored.json.data.sequence}`);
    const untaken = await openUntaken(`${service.url}/v1/export`, authorized);
    // Requests on their way are taken.
    const late = JSON.stringify(event({ event_id: "evt_late" }));
    const unfinished = openRaw(
      service.url,
      `POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorized.authorization}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${late.length}\r\n\r\n`,
    );
    await until("its head was read", () => unfinished.soFar().startsWith("HTTP/1.1 100"));
    service.kill("SIGTERM");
    await until("nobody else is let in", () =>
      service.call("/health/live").then(
        ({ status }) => status === 503,
        () => true,
      ),
    );
    unfinished.send(late);
    const taken = await unfinished.answer();
    expect(taken).toContain("\r\nHTTP/1.1 202");
    expect(taken.toLowerCase()).toContain("\r\nconnection: close\r\n");
    expect(await service.ended()).toBe(0);
    await until("the stream has ended", () => stream.end === "closed");
    expect(await untaken.text()).not.toEndWith(LAST_CHUNK);
    expect(processesNaming(folder.path)).toEqual([]);
    const lines = service.output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.find(({ route }) => route === "/v1/events")).toMatchObject({
      client: "127.0.0.1",
      tenant: "default",
      status: 202,
    });
    expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
    expect(service.errors).not.toMatch(/unhandled|uncaught|warning/i);
  });
};
