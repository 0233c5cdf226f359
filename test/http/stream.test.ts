import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { REQUEST_DRAIN_MS_MAX, STREAMS_PER_KEY_MAX } from "../../src/limits.ts";
import { type EventSource, openEventSource } from "../support/event-source.ts";
import { dataFolder } from "../support/process.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { openUntaken } from "../support/untaken-answer.ts";
import { until } from "../support/until.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const send = async (key: string, ids: readonly string[], members = {}, at = service): Promise<number> => {
  const events = ids.map((id) => event({ event_id: `evt_${id}`, ...members }));
  const answer = await at.call("/v1/events/batch", { key, body: { events } });
  if (answer.json.data.accepted !== ids.length) throw new Error(answer.text);
  return answer.json.data.sequence;
};
const follow = (
  key: string,
  query = "",
  headers: Readonly<Record<string, string>> = {},
  at = service,
): Promise<EventSource> =>
  openEventSource(`${at.url}/v1/events/stream${query}`, { authorization: `Bearer ${key}`, ...headers });
const idsOf = (source: Pick<EventSource, "messages">): string[] =>
  source.messages.map(({ data }) => JSON.parse(data).event.event_id.replace("evt_", ""));
const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => String(from + index));

describe("the stream", () => {
  test("sends what is stored from now on, in the form of other reads, with its sequence as id", async () => {
    const key = await service.makeKey("now");
    await send(key, ["before"]);
    const source = await follow(key);
    expect(source.response.headers.get("content-type")).toBe("text/event-stream");
    const sequence = await send(key, ["after"]);
    const [message] = await source.take(1);
    const listed = await service.call(`/v1/events/evt_after?min_sequence=${sequence}`, { key });
    expect(message).toEqual({
      id: String(sequence),
      event: "audit",
      data: expect.stringMatching(/^\{"sequence":/),
    });
    expect(JSON.parse(message?.data ?? "")).toEqual(listed.json.data);
    await source.disconnect();
  });

  test("sends each event byte for byte as it was sent, raw line breaks included", async () => {
    const key = await service.makeKey("bytes");
    const text = `{ "n":12345678901234567890,\n\n "s":"\\u0000\\ud800😀\\n: x",\n${JSON.stringify(event({ event_id: "evt_exact" })).slice(1)}`;
    await service.call("/v1/events", { key, body: text });
    await service.call("/v1/events", {
      key,
      body: JSON.stringify(event({ event_id: "evt_cr" }), null, 1).replaceAll("\n", "\r\n"),
    });
    const source = await follow(key, "?after=0");
    const [exact, carriage] = await source.take(2);
    expect(exact?.data).toEndWith(`"event":${text}}`);
    expect(JSON.parse(carriage?.data ?? "").event.event_id).toBe("evt_cr");
    await source.disconnect();
  });

  test("sends only the tenant's events that match the filters, whatever other tenants send", async () => {
    const [one, other] = [await service.makeKey("one"), await service.makeKey("other")];
    const all = await follow(one, "?after=0");
    const filtered = await follow(one, "?after=0&event_type=decision.*&asset_id=special&risk_tier=high");
    for (let round = 0; round < 5; round++) {
      await Promise.all([
        send(one, [`one${round}`]),
        send(other, numbers(round * 20, round * 20 + 20), { asset_id: "special", risk_tier: "high" }),
      ]);
    }
    await send(one, ["special"], { asset_id: "special", risk_tier: "high" });
    await send(one, ["legacy"], { asset_id: "special", risk_tier: "high", event_type: "objection" });
    await all.take(7);
    expect(idsOf(all)).toEqual(["one0", "one1", "one2", "one3", "one4", "special", "legacy"]);
    await filtered.take(1);
    expect(idsOf(filtered)).toEqual(["special"]);
    expect(new Set(all.messages.map(({ data }) => JSON.parse(data).tenant))).toEqual(new Set(["one"]));
    await Promise.all([all.disconnect(), filtered.disconnect()]);
  });

  test("sends each event once, even if it is stored twice", async () => {
    const key = await service.makeKey("twice");
    const source = await follow(key, "?after=0");
    const body = event({ event_id: "evt_two_names" });
    await service.call("/v1/events", { key, body });
    await service.call("/v1/events", { key, body, headers: { "idempotency-key": "another-name" } });
    await send(key, ["last"]);
    await source.take(2);
    expect(idsOf(source)).toEqual(["two_names", "last"]);
    await source.disconnect();
  });

  test("refuses an invalid sequence, and an unknown parameter", async () => {
    for (const value of ["", "-1", "1.5", "abc", "1e3", "99999999999999999", "9999999999999999", "1, 2"]) {
      const query = await service.call(`/v1/events/stream?after=${encodeURIComponent(value)}`);
      expect([value, query.status, query.json.errors[0].path]).toEqual([value, 400, "query:after"]);
      if (value === "") continue;
      const header = await service.call("/v1/events/stream", { headers: { "last-event-id": value } });
      expect([value, header.status, header.json.errors[0].path]).toEqual([
        value,
        400,
        "header:Last-Event-ID",
      ]);
    }
    const unknown = await service.call("/v1/events/stream?order=asc&cursor=x");
    expect(unknown.json.errors.map(({ code }: { code: string }) => code)).toEqual([
      "unknown_parameter",
      "unknown_parameter",
    ]);
  });

  test("refuses a position beyond the end of the log, taken from the log and not from a view that may be behind", async () => {
    // Without a projector its view stays at 0.
    await using behind = await startTestService({ ROLES: "api" });
    for (const at of [service, behind]) {
      const key = await at.makeKey("end");
      const end = await send(key, ["last"], {}, at);
      const open = (after: number) => [
        ["query:after", at.call(`/v1/events/stream?after=${after}`, { key })] as const,
        [
          "header:Last-Event-ID",
          at.call("/v1/events/stream?after=0", { key, headers: { "last-event-id": String(after) } }),
        ] as const,
        ["query:after", at.call(`/v1/events/stream?after=${after}`, { key, method: "HEAD" })] as const,
      ];
      for (const [, answer] of [...open(end), ...open(0)]) expect((await answer).status).toBe(200);
      for (const [path, asked] of [...open(end + 1), ...open(999_999)]) {
        const { status, json } = await asked;
        expect(status).toBe(400);
        if (json === undefined) continue;
        const message = expect.stringContaining(`The log ends at ${end}:`);
        expect(json.errors).toEqual([{ path, code: "invalid_value", message }]);
      }
    }
  });
});

describe("resuming", () => {
  test("again and again while events arrive gives each event once and in order", async () => {
    const key = await service.makeKey("again");
    const stranger = await service.makeKey("stranger");
    const wanted = numbers(0, 600);
    const sending = (async () => {
      for (let from = 0; from < wanted.length; from += 20) {
        await send(key, wanted.slice(from, from + 20));
        await send(stranger, [`s${from}`]);
      }
    })();
    const found: string[] = [];
    let lastEventId = "0";
    while (found.length < wanted.length) {
      const source = await follow(key, "?after=0", { "last-event-id": lastEventId });
      await source.take(Math.min(37, wanted.length - found.length));
      await source.disconnect();
      found.push(...idsOf(source));
      lastEventId = source.lastEventId;
    }
    await sending;
    expect(found).toEqual(wanted);
  });

  test("loses nothing if the stream broke before its first event", async () => {
    const key = await service.makeKey("early");
    await send(key, ["before"]);
    const first = await follow(key);
    const lastEventId = await until("there is a place to resume from", () => first.lastEventId || undefined);
    await first.disconnect();
    await send(key, ["between"]);
    const second = await follow(key, "", { "last-event-id": lastEventId });
    await second.take(1);
    expect(idsOf(second)).toEqual(["between"]);
    await second.disconnect();
  });

  test("continues after a restart of the service", async () => {
    await using folder = await dataFolder();
    const found: string[] = [];
    let lastEventId = "0";
    for (const [from, to] of [
      [0, 30],
      [30, 60],
    ] as const) {
      await using at = await startTestService({ DATA_DIR: folder.path });
      await send(at.adminKey, numbers(from, to), {}, at);
      const source = await follow(at.adminKey, "", { "last-event-id": lastEventId }, at);
      await source.take(30);
      await at.service.stop();
      await until("the stream has ended", () => source.end);
      found.push(...idsOf(source));
      lastEventId = source.lastEventId;
    }
    expect(found).toEqual(numbers(0, 60));
  });
});

describe("the end", () => {
  test("comes when the key is revoked, before another event is sent", async () => {
    const made = await service.call("/v1/keys", { body: { tenant: "ended", scopes: ["events:read"] } });
    const { id, api_key } = made.json.data;
    const writer = await service.makeKey("ended");
    const source = await follow(api_key, "?after=0");
    await send(writer, ["seen"]);
    await source.take(1);
    await service.call(`/v1/keys/${id}`, { method: "DELETE" });
    await send(writer, ["unseen"]);
    expect(await until("the stream has ended", () => source.end)).toBe("closed");
    expect(idsOf(source)).toEqual(["seen"]);
    const again = await service.call("/v1/events/stream", { key: api_key });
    expect(again.status).toBe(401);
  });

  test("of the service does not wait for streams", async () => {
    const at = await startTestService();
    const sources = await Promise.all(Array.from({ length: 5 }, () => follow(at.adminKey, "", {}, at)));
    await until("all are open", () => sources.every(({ lastEventId }) => lastEventId !== ""));
    const startedAt = performance.now();
    await at[Symbol.asyncDispose]();
    expect(performance.now() - startedAt).toBeLessThan(REQUEST_DRAIN_MS_MAX);
    await until("all have ended", () => sources.every(({ end }) => end === "closed"));
  });

  test("by the client frees its place; the number of streams is limited", async () => {
    const key = await service.makeKey("many");
    const sources = await Promise.all(Array.from({ length: STREAMS_PER_KEY_MAX }, () => follow(key)));
    const refused = await service.call("/v1/events/stream", { key });
    expect([refused.status, refused.json.code, refused.headers.get("retry-after")]).toEqual([
      503,
      "overloaded",
      "1",
    ]);
    const [source, ...others] = sources;
    const same = await service.makeKey("many");
    expect((await service.call("/v1/events/stream", { key: same })).status).toBe(200);
    await source?.disconnect();
    await until(
      "a place is free",
      async () => (await service.call("/v1/events/stream", { key })).status === 200,
    );
    await Promise.all(others.map((other) => other.disconnect()));
  });

  test("HEAD opens no stream", async () => {
    const key = await service.makeKey("head");
    for (let index = 0; index <= STREAMS_PER_KEY_MAX; index++) {
      const answer = await service.call("/v1/events/stream", { key, method: "HEAD" });
      expect(answer.status).toBe(200);
    }
    expect((await service.call("/v1/events/stream", { key })).status).toBe(200);
  });
});

/** Of 100 kB each: more than sockets and the service hold for a reader. */
const EVENTS = 120;

test("a reader that takes nothing holds nobody up, and gets everything once it reads", async () => {
  const key = await service.makeKey("slow");
  const padding = "x".repeat(100_000);
  for (let from = 0; from < EVENTS; from += 60)
    await send(key, numbers(from, from + 60), { metadata: { padding } });
  await send(key, ["last"]);
  const slow = await openUntaken(`${service.url}/v1/events/stream?after=0`, {
    authorization: `Bearer ${key}`,
  });
  const source = await follow(key, "?after=0");
  await source.take(EVENTS + 1);
  await source.disconnect();
  const text = await slow.text((some) => some.includes("evt_last"));
  // A chunk of the transfer coding may begin anywhere.
  const ids = [...text.replaceAll(/\r\n[0-9a-f]+\r\n/g, "").matchAll(/"event_id":"evt_(\w+)"/g)].map(
    ([, id]) => id,
  );
  expect(ids).toEqual([...numbers(0, EVENTS), "last"]);
});
