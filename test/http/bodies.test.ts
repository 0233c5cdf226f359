import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { createBodyReader } from "../../src/api/http/body.ts";
import { openRaw, rawPost } from "../support/raw-connection.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const CODINGS = { gzip: gzipSync, zstd: zstdCompressSync } as const;
type Coding = keyof typeof CODINGS;
const compress = (coding: Coding, text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(CODINGS[coding](text));
const post = (body: Uint8Array<ArrayBuffer>, coding: string, path = "/v1/events") =>
  service.call(path, { body, headers: { "content-encoding": coding } });

describe.each(Object.keys(CODINGS) as Coding[])("a body in %s", (coding) => {
  test("is read as the text it contains", async () => {
    const text = JSON.stringify(event({ event_id: `evt_${coding}`, metadata: { é: "😀".repeat(1000) } }));
    const sent = await post(compress(coding, text), coding.toUpperCase());
    expect(sent.status).toBe(202);
    const read = await service.call(`/v1/events/evt_${coding}?min_sequence=${sent.json.data.sequence}`);
    expect(read.text).toContain(`"event":${text}}`);
    const batch = JSON.stringify({
      events: Array.from({ length: 1000 }, (_, index) => event({ event_id: `evt_${coding}_${index}` })),
    });
    expect((await post(compress(coding, batch), coding, "/v1/events/batch")).json.data.accepted).toBe(1000);
  });

  test("is refused when it grows beyond the limit, and is not decompressed further", async () => {
    const bomb = compress(coding, " ".repeat(200 * 1024 * 1024));
    const before = process.memoryUsage().rss;
    const answer = await post(bomb, coding, "/v1/events/batch");
    expect([answer.status, answer.json.code]).toEqual([413, "payload_too_large"]);
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * 1024 * 1024);
    expect((await post(compress(coding, "x".repeat(1024 * 1024 + 1)), coding)).status).toBe(413);
  });

  test("is refused, never read in part, when it is damaged, cut off or followed by other bytes", async () => {
    const whole = compress(coding, JSON.stringify(event({ event_id: "evt_damaged" })));
    const damaged = [
      Uint8Array.of(1, 2, 3),
      new Uint8Array(0),
      whole.slice(0, -6),
      Uint8Array.from([...whole, 1, 2, 3, 4]),
    ];
    for (const bytes of damaged) {
      const answer = await post(bytes, coding);
      expect([answer.status, ["invalid_request", "invalid_json"].includes(answer.json.code)]).toEqual([
        400,
        true,
      ]);
      if (answer.json.code === "invalid_request")
        expect(answer.json.errors).toMatchObject([{ path: "header:Content-Encoding" }]);
    }
  });
});

test.each(Object.keys(CODINGS) as Coding[])(
  "an optional body that is cut off in %s does not count as missing",
  async (coding) => {
    const made = await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["events:read"] } });
    const whole = compress(coding, `{"grace_seconds":0${" ".repeat(300)}}`);
    for (let bytes = 1; bytes < whole.byteLength - 8; bytes++) {
      const answer = await post(whole.slice(0, bytes), coding, `/v1/keys/${made.json.data.id}/rotate`);
      expect([bytes, answer.status]).toEqual([bytes, 400]);
    }
  },
);

test("gzip with several members is one body (RFC 1952 §2.2)", async () => {
  const text = JSON.stringify(event({ event_id: "evt_members" }));
  const body = Uint8Array.from([...gzipSync(text.slice(0, 20)), ...gzipSync(text.slice(20))]);
  expect((await post(body, "x-gzip")).status).toBe(202);
});

test.each(["br", "deflate", "gzip, gzip", "hunter2"])(
  "an unsupported coding (%s) is answered with the supported ones",
  async (coding) => {
    const answer = await post(compress("gzip", "{}"), coding);
    expect([answer.status, answer.json.code, answer.headers.get("accept-encoding")]).toEqual([
      415,
      "unsupported_media_type",
      "gzip, zstd",
    ]);
  },
);

test("without a key no body is decompressed", async () => {
  const answer = await service.call("/v1/events", {
    key: null,
    body: Uint8Array.of(1),
    headers: { "content-encoding": "gzip" },
  });
  expect(answer.status).toBe(401);
});

const BOUNDS = { bodyMsMax: 10_000, heldMax: 1000, perHolderMax: 1000 };
const HOLDER = "acme";
const ONE_BYTE = { method: "POST", body: " ", headers: { "content-type": "application/json" } };

test("a body counts as held until its request is answered, with the size that it grows to", async () => {
  const bodies = createBodyReader(BOUNDS);
  const read = (body: string | Uint8Array<ArrayBuffer>, coding = "identity", bytesMax = 600) => {
    const headers = { "content-type": "application/json", "content-encoding": coding };
    const announced = { ...headers, "content-length": String(body.length) };
    const request = new Request("http://x", { method: "POST", body, headers: announced });
    return bodies.read(request, { bytesMax, holder: HOLDER });
  };
  const first = await read(" ".repeat(500));
  expect([first.kind, (await read(" ".repeat(501))).kind]).toEqual(["text", "refused"]);
  const other = await read(" ".repeat(500));
  expect(other.kind).toBe("text");
  for (const body of [first, other]) if (body.kind === "text") body.release();
  // About 30 bytes that become 600: nobody can know this in advance.
  const zipped = compress("gzip", " ".repeat(600));
  const both = await Promise.all([read(zipped, "gzip"), read(zipped, "gzip")]);
  // Either may finish first.
  expect(both.map((body) => (body.kind === "refused" ? body.code : body.kind)).sort()).toEqual([
    "overloaded",
    "text",
  ]);
  for (const body of both) if (body.kind === "text") body.release();
  expect((await read(" ".repeat(1000), "identity", 1000)).kind).toBe("text");
});

test("each holder has a share of the held bytes, and leaves the rest to others", async () => {
  const bodies = createBodyReader({ ...BOUNDS, perHolderMax: 500 });
  const read = (holder: string) => {
    const headers = { "content-type": "application/json" };
    const request = new Request("http://x", { method: "POST", body: " ".repeat(300), headers });
    return bodies.read(request, { bytesMax: 1000, holder });
  };
  const first = await read("acme");
  expect([first.kind, await read("acme")]).toEqual(["text", expect.objectContaining({ code: "overloaded" })]);
  expect((await read("beta")).kind).toBe("text");
  if (first.kind === "text") first.release();
  expect((await read("acme")).kind).toBe("text");
});

test("a body that arrives byte by byte is read as sent, and no piece is kept", async () => {
  const bodies = createBodyReader({ ...BOUNDS, heldMax: 100_000, perHolderMax: 100_000 });
  const sent = new TextEncoder().encode(JSON.stringify(event({ metadata: { padding: "é".repeat(5000) } })));
  const pieces: WeakRef<Uint8Array>[] = [];
  let kept = Number.NaN;
  const body = new ReadableStream({
    pull: async (controller) => {
      const piece = sent.slice(pieces.length, pieces.length + 1);
      if (piece.length === 1) {
        pieces.push(new WeakRef(piece));
        controller.enqueue(piece);
        return;
      }
      // Objects seen in this turn of the event loop are never collected in the same turn.
      await delay(0);
      Bun.gc(true);
      kept = pieces.filter((each) => each.deref() !== undefined).length;
      controller.close();
    },
  });
  const request = new Request("http://x", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  const read = await bodies.read(request, { bytesMax: 100_000, holder: HOLDER });
  expect(read.kind === "text" && Buffer.compare(Buffer.from(read.text), sent)).toBe(0);
  expect(kept).toBeLessThan(pieces.length / 10);
});

describe("bodies that do not arrive", () => {
  /** `first` arrives, and nothing after it. */
  const neverEnding = (headers: Record<string, string>, first = "") =>
    new Request("http://localhost/", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: new ReadableStream({
        start: (controller) => {
          if (first !== "") controller.enqueue(new TextEncoder().encode(first));
        },
        pull: () => new Promise(() => {}),
      }),
    });

  test("are given up in time, and their reservation is freed", async () => {
    const bodies = createBodyReader({ ...BOUNDS, bodyMsMax: 100 });
    const read = (request: Request) => bodies.read(request, { bytesMax: 1000, holder: HOLDER });
    for (const stalled of [neverEnding({ "content-length": "1000" }), neverEnding({}, " ".repeat(1000))]) {
      const reading = read(stalled);
      await until("what has come is held", async () => {
        const other = await read(new Request("http://x", ONE_BYTE));
        if (other.kind === "text") other.release();
        return other.kind === "refused" && other.code === "overloaded";
      });
      expect(await reading).toMatchObject({ kind: "refused", code: "request_timeout" });
    }
    expect((await read(new Request("http://x", ONE_BYTE))).kind).toBe("text");
  });

  test("take no place from others, whatever length they announce", async () => {
    const bodies = createBodyReader(BOUNDS);
    const read = (request: Request) => bodies.read(request, { bytesMax: 16_000_000, holder: HOLDER });
    for (let index = 0; index < 100; index++)
      void read(neverEnding(index % 2 === 0 ? {} : { "content-length": "16000000" }));
    expect((await read(new Request("http://x", ONE_BYTE))).kind).toBe("text");
  });

  /** The head of a request with a body, from the administrator. */
  const headOf = (headers: Readonly<Record<string, string>>, path = "/v1/events"): string =>
    rawPost(path, {
      Host: "localhost",
      Authorization: `Bearer ${service.adminKey}`,
      "Content-Type": "application/json",
      ...headers,
    });
  const CHUNKED = { "Transfer-Encoding": "chunked" };
  const chunkOf = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

  test.each([{ "Content-Length": "500" }, { "Content-Length": "50000" }, CHUNKED])(
    "that are cut off store nothing, not even a complete event, and are not logged as our error: %o",
    async (length) => {
      const text = JSON.stringify(event({ event_id: "evt_cut" }));
      const sent = length === CHUNKED ? chunkOf(text) : text;
      const before = service.lines.length;
      const { socket } = openRaw(service.url);
      await new Promise<void>((resolve) => socket.write(headOf(length) + sent, () => resolve()));
      socket.destroy();
      await until("it is refused", () =>
        service.lines.slice(before).some(({ code }) => code === "invalid_request"),
      );
      expect((await service.call("/v1/events/evt_cut")).status).toBe(404);
      expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);
    },
  );

  test("that announce trailer fields are refused with the reason before they are read, and store nothing", async () => {
    const text = JSON.stringify(event({ event_id: "evt_trailer" }));
    const head = headOf({ ...CHUNKED, Trailer: "Expires" });
    const rest = `${chunkOf(text)}0\r\nExpires: never\r\n\r\n`;
    const send = async (...parts: string[]): Promise<string> => {
      const raw = openRaw(service.url);
      for (const part of parts) {
        raw.send(part);
        await until("it is answered", () => raw.soFar().includes("\r\n\r\n"));
      }
      return raw.answer();
    };
    const answer = await send(head, rest);
    expect(answer).toStartWith("HTTP/1.1 400 ");
    expect(answer).toContain('"path":"header:Trailer"');
    // Bun takes the trailer fields for the head of another request, which is refused before this one is answered.
    expect(await send(head + rest)).toStartWith("HTTP/1.1 400 ");
    const { json } = await service.call("/v1/events", { body: event({ event_id: "evt_after_trailer" }) });
    const read = await service.call(`/v1/events/evt_trailer?min_sequence=${json.data.sequence}`);
    expect(read.status).toBe(404);
  });

  test.each(["localhost", "api"])(
    "that are longer than allowed are refused at once, whatever Host they are sent to: %s",
    async (host) => {
      const raw = openRaw(service.url, headOf({ ...CHUNKED, Host: host }));
      raw.send(`${chunkOf(" ".repeat(2 * 1024 * 1024))}0\r\n\r\n`);
      await until("it is answered", () => raw.soFar().includes("\r\n\r\n"));
      expect(raw.soFar()).toStartWith("HTTP/1.1 413 ");
      raw.socket.destroy();
    },
  );

  test.each([
    ["too large", "/v1/events", {}, 413],
    ["too large, in pieces", "/v1/events", CHUNKED, 413],
    ["of another type", "/v1/events/batch", { "Content-Type": "text/plain" }, 415],
    ["sent with a wrong key", "/v1/events/batch", { Authorization: "Bearer hunter2" }, 401],
    ["sent to a path that does not exist", "/v1/event", {}, 404],
    ["sent to the sandbox", "/v1/sandbox/events", {}, 413],
  ] as const)(
    "that are %s are refused with the reason, also where the client reads nothing before it has sent all and asks for the connection to be closed",
    async (_what, path, headers, status) => {
      const body = " ".repeat(17 * 1024 * 1024);
      const framing = headers === CHUNKED ? {} : { "Content-Length": String(body.length) };
      const head = headOf({ Connection: "close", ...framing, ...headers }, path);
      const { socket, answer } = openRaw(service.url);
      socket.pause();
      let failed: Error | undefined;
      socket.on("error", (error) => {
        failed = error;
      });
      const sent = headers === CHUNKED ? `${chunkOf(body)}0\r\n\r\n` : body;
      await new Promise<void>((resolve) => socket.write(head + sent, () => resolve()));
      expect(failed).toBeUndefined();
      socket.resume();
      const said = await answer();
      expect(said).toStartWith(`HTTP/1.1 ${status} `);
      expect(JSON.parse(said.slice(said.indexOf("\r\n\r\n"))).status).toBe(status);
    },
  );

  test("do not make others wait: 300 connections that send nothing, 300 that stop halfway, and 64 batches that send only their head", async () => {
    const sockets: Socket[] = [];
    const open = (head: string): void => void sockets.push(openRaw(service.url, head).socket);
    for (let index = 0; index < 300; index++) {
      open("");
      open("POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Le");
    }
    for (let index = 0; index < 32; index++) {
      open(headOf(CHUNKED, "/v1/events/batch"));
      open(headOf({ "Content-Length": String(16 * 1024 * 1024) }, "/v1/events/batch"));
    }
    await until("all are connected", () => sockets.every(({ readyState }) => readyState === "open"));
    const answer = await service.call("/v1/events", { body: event({ event_id: "evt_through" }) });
    expect(answer.status).toBe(202);
    for (const socket of sockets) socket.destroy();
  });
});
