/** What is said of evidence bundles before and after they are made. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { evidence, manifestOf, textOf, unpack } from "../support/evidence-bundle.ts";
import { event, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let acme = "";

const HASH = `sha256:${"a".repeat(64)}`;
const of = (event_id: string, day: string, more: object) =>
  event({ event_id, timestamp: `2026-02-0${day}T00:00:00Z`, ...more });
const ABOUT = { metadata: { decision_id: "dec_1" }, subject_hash: HASH };
const HISTORY = [
  of("evt_decided", "1", ABOUT),
  of("evt_explained", "3", { ...ABOUT, event_type: "decision.explanation_provided" }),
  of("evt_review", "4", { ...ABOUT, event_type: "decision.human_review_triggered", asset_id: "desk" }),
  of("evt_other", "5", { asset_id: "chat" }),
];

beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "50ms" });
  acme = await service.makeKey("acme");
  const sent = await service.call("/v1/events/batch", { key: acme, body: { events: HISTORY } });
  expect(sent.json.data.accepted).toBe(HISTORY.length);
});
afterAll(() => service[Symbol.asyncDispose]());

const preview = (query: string, key = acme) => service.call(`/v1/evidence/preview?${query}`, { key });
const bundles = (query = "", key = acme) => service.call(`/v1/evidence/bundles?${query}`, { key });

test.each([
  ["", []],
  ["asset_id=credit_model", []],
  ["decision_id=dec_1", []],
  ["decision_id=dec_1&from=2026-02-02T00:00:00Z", [{ reason: "outside_time", records: 1 }]],
  [`subject_hash=${HASH}&asset_id=desk`, [{ reason: "other_system", records: null }]],
])("the preview of %p is what the bundle is", async (query, leftOut) => {
  const { data } = (await preview(query)).json;
  const bytes = await evidence(service, query, acme);
  const files = await unpack(bytes);
  const manifest = manifestOf(files);
  const events = textOf(files, "events.ndjson").split("\n").slice(0, -1);
  expect(data).toMatchObject({
    records: manifest.records,
    withheld: manifest.withheld,
    complete_range: manifest.complete_range,
    checkpoint_size: manifest.checkpoint_size,
    bytes: events.reduce((sum, line) => sum + JSON.stringify(JSON.parse(line).event).length, 0),
  });
  expect(Math.abs(data.estimated_file_bytes / bytes.length - 1)).toBeLessThan(0.25);
  const always = (data.complete_range ? ["sandbox"] : ["expired", "repeated", "sandbox"]).map((reason) => ({
    reason,
    records: null,
  }));
  expect(data.left_out).toEqual([...leftOut, ...always]);
});

test("what the bundle is refused for, the preview is refused for", async () => {
  for (const query of ["decision_id=none", "asset_id=a&correlation_id=b", "wait=99", "colour=red"]) {
    const [said, made] = [await preview(query), await service.call(`/v1/evidence?${query}`, { key: acme })];
    expect([query, said.status, said.json.code]).toEqual([query, made.status, made.json.code]);
    expect(said.status).toBeGreaterThanOrEqual(400);
  }
});

test("a preview is recorded nowhere, and holds no place for exports", async () => {
  const before = await bundles("count=true");
  for (let asked = 0; asked < 9; asked++) expect((await preview("")).status).toBe(200);
  expect((await bundles("count=true")).json.count).toEqual(before.json.count);
});

test("the list has the bundles of the own tenant, the newest first, with the hash of each manifest", async () => {
  const seat = { tenant: "bundles", role: "officer", name: "Audit office", person: "j.kim@audit.example" };
  const key = (await service.call("/v1/keys", { body: seat })).json.data.api_key;
  const other = await service.makeKey("others");
  for (const each of [key, other])
    await service.call("/v1/events", { key: each, body: event({ asset_id: "a,b", event_id: "evt_own" }) });
  const hashes: string[] = [];
  for (const query of ["", "asset_id=a%5C%2Cb", "from=2026-01-01T00:00:00Z"]) {
    const files = await unpack(await evidence(service, query, key));
    const { content } = files.find(({ name }) => name === "manifest.json") ?? { content: "" };
    hashes.unshift(createHash("sha256").update(content).digest("hex"));
    await evidence(service, query, other);
  }
  const all = await bundles("count=true", key);
  expect(all.json.count).toEqual({ value: 3, exact: true });
  expect(all.json.data.map((row: { manifest_sha256: string }) => row.manifest_sha256)).toEqual(hashes);
  expect(all.json.data.map((row: { filter: object }) => row.filter)).toEqual([
    { from: "2026-01-01T00:00:00Z" },
    { asset_id: "a\\,b" },
    {},
  ]);
  expect(all.json.data[0]).toMatchObject({
    ...{ made_by: key.split("_")[1], made_by_name: seat.name, made_by_person: seat.person },
    records: 1,
  });
  const first = await bundles("limit=2", key);
  const cursor = encodeURIComponent(first.json.next_cursor);
  const second = await bundles(`limit=2&cursor=${cursor}`, key);
  expect([...first.json.data, ...second.json.data]).toEqual(all.json.data);
  expect(second.json.next_cursor).toBeNull();
  expect((await bundles(`limit=2&cursor=${cursor}`, other)).json.errors[0].path).toBe("query:cursor");
  expect((await bundles("from=2030-01-01T00:00:00Z", key)).json.data).toEqual([]);
  const lines = (await bundles("format=csv&order=asc", key)).text.trim().split("\r\n");
  expect(lines.slice(1).map((line) => hashes.findIndex((hash) => line.includes(hash)))).toEqual([2, 1, 0]);
});
