/** A request is answered or refused: it never gets the answer to another question, half an answer, a page without a next, or rows of a partial view. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { evidence, manifestOf, unpack } from "../support/evidence-bundle.ts";
import { event, fact, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let key = "";
beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "300ms" });
  key = await service.makeKey("acme");
});
afterAll(() => service[Symbol.asyncDispose]());

const ask = (path: string) => service.call(path, { key });

/** Returns the sequence of the last one. */
const send = async (events: readonly object[]): Promise<number> => {
  const sent = await service.call("/v1/events/batch", { key, body: { events } });
  expect(sent.json.data).toMatchObject({ accepted: events.length });
  return sent.json.data.sequence;
};

test.concurrent.each(["due_soon", "overdue"])(
  "the next page of duties that are %s can be read a second later",
  async (state) => {
    const timestamp = state === "overdue" ? "2025-01-01T00:00:00Z" : new Date().toISOString();
    const sequence = await send(
      [1, 2].map((index) =>
        fact(
          `evt_${state}_${index}`,
          "objection.received",
          { objection_id: `${state}_${index}` },
          { timestamp },
        ),
      ),
    );
    const first = await ask(`/v1/obligations?state=${state}&limit=1&min_sequence=${sequence}`);
    const cursor = `cursor=${first.json.next_cursor}`;
    const second = (): number => Math.floor(Date.now() / 1000);
    const asked = second();
    await until("the time of the answer is another one, in whole seconds", () => second() > asked);
    const next = await ask(`/v1/obligations?state=${state}&limit=1&${cursor}`);
    expect([next.status, next.json.data?.length]).toEqual([200, 1]);
    expect((await ask(`/v1/obligations?state=met&limit=1&${cursor}`)).status).toBe(400);
  },
);

test.concurrent("a change with an unknown parameter is refused with its name, and nothing is changed", async () => {
  const made = await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["events:read"] } });
  const { id } = made.json.data;
  const policy = await service.call("/v1/retention");
  const answers = [
    await service.call("/v1/retention?tenant=acme", { method: "PUT", body: { maximum_days: 4000 } }),
    await service.call("/v1/holds?tenant=acme", { body: { asset_id: "x", reason: "r" } }),
    await service.call("/v1/holds/none?tenant=acme", { method: "DELETE" }),
    await service.call("/v1/keys?tenant=acme", { body: { scopes: ["events:read"] } }),
    await service.call(`/v1/keys/${id}/rotate?grace_seconds=0`, { method: "POST" }),
    await service.call(`/v1/keys/${id}?tenant=other`, { method: "DELETE" }),
  ];
  for (const { status, json } of answers)
    expect([status, json.errors]).toEqual([
      400,
      [expect.objectContaining({ path: expect.stringMatching(/^query:/) })],
    ]);
  expect((await service.call("/v1/retention")).json.data).toEqual(policy.json.data);
});

test.concurrent("a bundle about a correlation_id contains all its events, even more than a case keeps", async () => {
  const start = Date.parse("2026-11-01T00:00:00Z");
  await send(
    Array.from({ length: 300 }, (_, index) =>
      fact(`evt_session_${index}`, "ai_inference", undefined, {
        correlation_id: "session",
        timestamp: new Date(start + index).toISOString(),
      }),
    ),
  );
  const bytes = await evidence(service, "correlation_id=session&wait=20", key);
  expect(manifestOf(await unpack(bytes)).records).toBe(300);
});

test.concurrent("bytes that are not valid UTF-8 are refused, not replaced", async () => {
  await send([event({ event_id: "evt_replacement", asset_id: "\ufffd" })]);
  const statusOf = async (text: string) => (await ask(`/v1/events?asset_id=${text}`)).status;
  const texts = ["%FF", "%E4%B8", "%ED%A0%80", "%EF%BF%BD", "\ufffd", "%C3%A9"];
  expect(await Promise.all(texts.map(statusOf))).toEqual([400, 400, 400, 200, 200, 200]);
});

test.concurrent("a cursor is checked even if nothing can match", async () => {
  const none = "from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z";
  expect((await ask(`/v1/events?${none}`)).status).toBe(200);
  expect((await ask(`/v1/events?${none}&cursor=garbage`)).status).toBe(400);
});

test.concurrent.each(["/v1/activity", "/v1/reconciliation"])(
  "%s refuses a `from` behind the default end, and asks for `to`",
  async (path) => {
    const { status, json } = await ask(`${path}?from=2099-01-01T00:00:00Z`);
    expect([status, json.errors]).toEqual([400, [expect.objectContaining({ path: "query:from" })]]);
    const to = "to=2099-01-02T00:00:00Z";
    expect((await ask(`${path}?from=2099-01-01T00:00:00Z&${to}`)).status).toBe(200);
  },
);
