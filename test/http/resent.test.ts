/** `?resent=true`: events that may have been sent before, however long ago, are stored once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JetStreamManager, type NatsConnection, nanos } from "nats";
import { DUPLICATE_WINDOW_MS } from "../../src/limits.ts";
import { settingsFor, startTestBroker, type TestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";
import { type Answer, event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let broker: TestBroker;
let dataDir: string;
let provisioner: NatsConnection;
let manager: JetStreamManager;
/** Answers requests; another process keeps the views. */
let service: TestService;
let projector: TestService;

const start = (roles: string, folder: Readonly<Record<string, string>>): Promise<TestService> =>
  startTestService({
    ...folder,
    ...settingsFor(broker),
    ROLES: roles,
  });

/** Has its own folder, where no process keeps the views. */
let behind: TestService;
/** Answered after 5 s: the other tests need not wait for these. */
let askedBehind: Promise<readonly Answer[]>;

beforeAll(async () => {
  broker = await startTestBroker();
  dataDir = await mkdtemp(join(tmpdir(), "prooftrail-resent-"));
  service = await start("api", { DATA_DIR: dataDir });
  projector = await start("projector", { DATA_DIR: dataDir });
  behind = await start("api", {});
  provisioner = await connectAs(broker, "provisioner");
  manager = await provisioner.jetstreamManager({ checkAPI: false });
  // The stream's setting is ten minutes; here it is shorter.
  await setWindow(200);
  askedBehind = sendBehind();
});
afterAll(async () => {
  await provisioner.close();
  await behind[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await projector[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true });
});

const send = (body: object, parameters = "?resent=true", headers: Readonly<Record<string, string>> = {}) =>
  service.call(`/v1/events${parameters}`, { body, headers });
const sendBatch = (events: readonly object[], parameters = "?resent=true&receipts=true") =>
  service.call(`/v1/events/batch${parameters}`, { body: { events } });

const setWindow = async (ms: number): Promise<void> => {
  await manager.streams.update("AUDIT", { duplicate_window: nanos(ms) });
};

const lastSequence = async (): Promise<number> => (await manager.streams.info("AUDIT")).state.last_seq;

const KNOWN = event({ event_id: "evt_known" });
const FRESH = event({ event_id: "evt_fresh" });

const sendBehind = async (): Promise<readonly Answer[]> => {
  const key = await behind.makeKey("behind");
  const resend = (path: string, body: object) => behind.call(`${path}?resent=true`, { key, body });
  await behind.call("/v1/events", { key, body: KNOWN });
  return Promise.all([
    resend("/v1/events", KNOWN),
    resend("/v1/events", FRESH),
    resend("/v1/events/batch", { events: [KNOWN, FRESH] }),
  ]);
};

let probes = 0;
/** Makes the broker forget everything that was sent before the call: it forgets in the order in which it learnt. */
const untilForgotten = async (): Promise<void> => {
  const probe = event({ event_id: `evt_probe_${probes++}` });
  await send(probe, "");
  await until("the broker has forgotten the id", async () => !(await send(probe, "")).json.data.duplicate);
};

test("an event stored before the broker's window is answered as a repeat and not stored again", async () => {
  const body = event({ event_id: "evt_single", metadata: { n: 1 } });
  const first = (await send(body, "")).json.data;
  await untilForgotten();
  const last = await lastSequence();
  const again = await send(body);
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([202, "true"]);
  expect(again.json.data).toEqual({ ...first, duplicate: true });

  const other = { ...body, metadata: { n: 2 } };
  const key = { "idempotency-key": "k-resent" };
  expect((await send(body, "?resent=true", key)).json.data).toEqual({ ...first, duplicate: true });
  for (const headers of [{}, key]) {
    const conflict = await send(other, "?resent=true", headers);
    expect([conflict.status, conflict.json.code]).toEqual([409, "event_id_conflict"]);
  }
  expect(await lastSequence()).toBe(last);
  // Without `resent` it is stored as a second record, as documented.
  expect((await send(body, "?resent=false")).json.data).toMatchObject({
    sequence: last + 1,
    duplicate: false,
  });
});

test("a UUID in upper case is the same event as in lower case", async () => {
  const id = "0198c0de-0000-7000-8000-00000000abcd";
  const { sequence } = (await send(event({ event_id: id }), "")).json.data;
  await untilForgotten();
  const single = await send(event({ event_id: id.toUpperCase() }));
  expect(single.json.data).toMatchObject({ sequence, duplicate: true });
  const batch = await sendBatch([event({ event_id: id.toUpperCase() })]);
  expect(batch.json.data).toMatchObject({ accepted: 1, duplicates: 1, sequence });
});

test("a batch stores new events once, and answers for the others from the log", async () => {
  const [old, changed, fresh, twice] = ["old", "changed", "fresh", "twice"].map((name) =>
    event({ event_id: `evt_${name}`, metadata: { name } }),
  );
  if (!(old && changed && fresh && twice)) throw new Error("four events");
  const { receipts } = (await sendBatch([old, changed], "?receipts=true")).json.data;
  await untilForgotten();
  const last = await lastSequence();
  const invalid = event({ event_id: "evt_invalid", risk_tier: "none" });
  const events = [twice, old, { ...changed, asset_id: "other" }, twice, invalid, fresh, old];
  const answer = (await sendBatch(events)).json.data;
  expect(answer).toMatchObject({ accepted: 5, rejected: 2, duplicates: 3, sequence: last + 2 });
  expect(answer.errors).toMatchObject([
    { index: 2, event_id: "evt_changed", code: "event_id_conflict" },
    { index: 4, event_id: "evt_invalid", code: "invalid_event" },
  ]);
  const repeated = { ...receipts[0], duplicate: true };
  const stored = { event_id: "evt_twice", sequence: last + 1 };
  expect(answer.receipts).toMatchObject([
    { index: 0, ...stored, duplicate: false },
    { ...repeated, index: 1 },
    { index: 3, ...stored, duplicate: true },
    { index: 5, event_id: "evt_fresh", sequence: last + 2, duplicate: false },
    { ...repeated, index: 6 },
  ]);
  expect(await lastSequence()).toBe(last + 2);

  await untilForgotten();
  const whole = (await sendBatch([twice, fresh, old])).json.data;
  expect(whole).toMatchObject({ accepted: 3, rejected: 0, duplicates: 3, sequence: last + 2 });
  expect((await sendBatch([])).json.data).toMatchObject({ accepted: 0, rejected: 0 });
});

test("an event that another tenant sent under the same event_id is not found", async () => {
  const body = event({ event_id: "evt_shared" });
  await send(body, "");
  const key = await service.makeKey("strangers");
  const path = "/v1/events";
  const theirs = await service.call(`${path}?resent=true`, { body, key });
  expect([theirs.status, theirs.json.data.duplicate]).toEqual([202, false]);
  const other = event({ event_id: "evt_shared_too" });
  await send(other, "");
  const batch = await service.call(`${path}/batch?resent=true`, { body: { events: [body, other] }, key });
  expect(batch.json.data).toMatchObject({ accepted: 2, duplicates: 1 });
});

test("a value other than true or false, or an unknown parameter, is refused before anything is stored", async () => {
  const last = await lastSequence();
  const body = event({ event_id: "evt_refused" });
  for (const [parameters, code] of [
    ["?resent=yes", "invalid_value"],
    ["?resent=", "invalid_value"],
    ["?resent=true&resent=true", "not_unique"],
    ["?resend=true", "unknown_parameter"],
  ] as const) {
    for (const answer of [await send(body, parameters), await sendBatch([body], parameters)]) {
      expect([answer.status, answer.json.code]).toEqual([400, "invalid_request"]);
      expect(answer.json.errors).toMatchObject([{ path: expect.stringMatching(/^query:rese/), code }]);
    }
  }
  expect(await lastSequence()).toBe(last);
});

test("repeats are counted among the outcomes like those that the broker finds", async () => {
  const duplicates = async (): Promise<number> => {
    const { text } = await service.call("/metrics");
    return Number(/^prooftrail_append_outcomes_total\{outcome="duplicate"\} (\d+)$/m.exec(text)?.[1]);
  };
  const body = event({ event_id: "evt_counted" });
  await send(body, "");
  const before = await duplicates();
  await send(body);
  await sendBatch([body, body]);
  expect(await duplicates()).toBe(before + 3);
});

test("while the view is behind nothing is stored: 503", async () => {
  for (const answer of await askedBehind) {
    expect([answer.status, answer.json.code]).toEqual([503, "view_behind"]);
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  const { state } = await manager.streams.info("AUDIT", { subjects_filter: "audit.behind.>" });
  expect(Object.values(state.subjects ?? {})).toEqual([1]);
});

test("an event that the view has not shown yet is found as soon as the view shows it", async () => {
  await projector[Symbol.asyncDispose]();
  const body = event({ event_id: "evt_not_projected" });
  const { sequence } = (await send(body, "")).json.data;
  await untilForgotten();
  const last = await lastSequence();
  const fresh = event({ event_id: "evt_never_sent" });
  const waiting = Promise.all([send(body), sendBatch([body, fresh])]);
  // A service does not start with a window other than its own.
  await setWindow(DUPLICATE_WINDOW_MS);
  projector = await start("projector", { DATA_DIR: dataDir });
  const [single, batch] = await waiting;
  expect(single.json.data).toMatchObject({ sequence, duplicate: true });
  expect(batch.json.data).toMatchObject({ accepted: 2, duplicates: 1, sequence: last + 1 });
});

test("while the log does not answer, the service does not guess what it holds: 503", async () => {
  await broker.stop();
  const body = event({ event_id: "evt_no_log" });
  for (const answer of [await send(body), await sendBatch([body])])
    expect([answer.status, answer.json.code]).toEqual([503, "log_unavailable"]);
});
