/** Calendar feeds: an address with a key of its own, bound to a tenant and a filter. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { event, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let reader: string;
let sequence = 0;

beforeAll(async () => {
  service = await startTestService();
  const writer = await service.makeKey("acme", ["events:write"]);
  reader = await service.makeKey("acme", ["events:read"]);
  const at = new Date().toISOString();
  for (const [id, assetId] of [
    ["1", "credit_model"],
    ["2", "hiring_model"],
  ] as const) {
    const members = { event_id: `evt_${id}`, asset_id: assetId, timestamp: at };
    const facts = {
      event_type: "objection.received",
      subject_hash: `sha256:${"a".repeat(64)}`,
      legal_bases: ["pipa_37_2_kr", "gdpr_art_22"],
      metadata: { objection_id: `obj,${id}`, objection_type: "refuse" },
    };
    const { json } = await service.call("/v1/events", { key: writer, body: event({ ...members, ...facts }) });
    sequence = json.data.sequence;
  }
});
afterAll(() => service[Symbol.asyncDispose]());

const makeFeed = async (body: object, key = reader) =>
  (await service.call("/v1/calendars", { key, body: { name: "feed", ...body } })).json.data;

const readFeed = (path: string, more = "") =>
  service.call(`${path}${more}&min_sequence=${sequence}`, { key: null });

const entriesOf = (text: string): readonly string[] =>
  text
    .replaceAll("\r\n ", "")
    .split("\r\n")
    .filter((line) => line.startsWith("SUMMARY:"));

test("the feed has the obligations of its filter, in English or Korean, without a header", async () => {
  const whole = await makeFeed({ name: "all" });
  const bound = await makeFeed({ filter: { asset_id: "credit_model" } });
  const listed = await service.call(`/v1/obligations?min_sequence=${sequence}`, { key: reader });
  const { text, headers } = await readFeed(whole.path);
  expect(headers.get("content-type")).toBe("text/calendar; charset=utf-8");
  expect(text.startsWith("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")).toBe(true);
  expect(entriesOf(text).length).toBe(listed.json.data.length);
  expect(entriesOf(text).length).toBeGreaterThan(1);
  expect(text.replaceAll("\r\n ", "")).toContain("Objection: obj\\,1");
  const ofOne = entriesOf((await readFeed(bound.path)).text);
  expect(ofOne.length).toBe(entriesOf(text).length / 2);
  expect(ofOne.every((line) => line.includes("credit_model"))).toBe(true);
  expect((await readFeed(whole.path, "&lang=ko")).text).toContain("이의");
  const uids = async () => (await readFeed(whole.path)).text.match(/UID:.*/g);
  expect(await uids()).toEqual(await uids());
});

test("its key reads the feed and nothing else, and cannot be widened", async () => {
  const { path } = await makeFeed({ filter: { asset_id: "credit_model" } });
  const key = path.split("token=")[1];
  for (const other of ["/v1/obligations", "/v1/events", "/v1/calendars", "/v1/session"])
    expect([other, (await service.call(other, { key })).status]).toEqual([other, 403]);
  const widened = await readFeed(path, "&asset_id=hiring_model");
  expect([widened.status, widened.json.errors[0].path]).toEqual([400, "query:asset_id"]);
});

test("a revoked feed, a wrong token and none are answered 401, without data", async () => {
  const { path, id } = await makeFeed({});
  const stranger = await service.makeKey("acme", ["events:read"]);
  const remove = (key: string) => service.call(`/v1/calendars/${id}`, { method: "DELETE", key });
  expect((await remove(stranger)).status).toBe(404);
  expect((await readFeed(path)).status).toBe(200);
  expect((await remove(reader)).json.data.revoked_at).toBeString();
  const answers = [
    await readFeed(path),
    await readFeed("/v1/obligations.ics?token=ptk_nobody"),
    await service.call("/v1/obligations.ics", { key: null }),
  ];
  expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
    [401, "invalid_api_key"],
    [401, "invalid_api_key"],
    [401, "missing_api_key"],
  ]);
  expect(answers.every(({ text }) => !text.includes("VCALENDAR"))).toBe(true);
});

test("making and revoking are events of the system's log, and each key lists its own", async () => {
  const key = await service.makeKey("listing", ["events:read"]);
  const { id } = await makeFeed({ name: "mine" }, key);
  await service.call(`/v1/calendars/${id}`, { method: "DELETE", key });
  const { json } = await service.call("/v1/calendars", { key });
  expect(json.data.map((each: { id: string; name: string }) => [each.id, each.name])).toEqual([[id, "mine"]]);
  const audits = await service.makeKey("prooftrail-system", ["events:read"]);
  const found = await service.call(`/v1/events?q=${id}&min_sequence=${sequence + 1}`, { key: audits });
  expect(
    found.json.data
      .map(({ event: { event_type } }: { event: { event_type: string } }) => event_type)
      .toSorted(),
  ).toEqual(["system.key_created", "system.key_revoked"]);
});

test("a filter that the list of obligations does not take is refused by name", async () => {
  const refused = await service.call("/v1/calendars", {
    key: reader,
    body: { name: "feed", filter: { assets: "x", state: "soon", recorded_late: "true" } },
  });
  expect([refused.status, refused.json.errors.map(({ path }: { path: string }) => path)]).toEqual([
    400,
    ["/filter/state", "/filter/assets"],
  ]);
  const long = await service.call("/v1/calendars", {
    key: reader,
    body: { name: "feed", filter: { asset_id: "x".repeat(2001) } },
  });
  expect([long.status, long.json.errors[0].path]).toEqual([400, "/filter"]);
});
