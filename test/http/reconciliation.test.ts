/** Accepted = stored = projected, and what is reported if they differ. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VIEW_LAG_RECORDS_MAX, VIEW_MADE_RECORDS_MIN } from "../../src/limits.ts";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { openViewsFile } from "../support/views-file.ts";

let service: TestService;
let sequence = 0;

beforeAll(async () => {
  service = await startTestService();
  const events = Array.from({ length: 20 }, (_, index) => event({ event_id: `evt_${index}` }));
  await service.call("/v1/events/batch", { body: { events } });
  // One stored twice under two idempotency keys, and one that the log holds already.
  const twice = { body: event({ event_id: "evt_3" }), headers: { "idempotency-key": "another" } };
  expect((await service.call("/v1/events", twice)).json.data.duplicate).toBe(false);
  expect((await service.call("/v1/events", { body: event({ event_id: "evt_4" }) })).json.data.duplicate).toBe(
    true,
  );
  const other = await service.makeKey("other");
  const sent = await service.call("/v1/events", { key: other, body: event({ event_id: "evt_1" }) });
  sequence = sent.json.data.sequence;
});
afterAll(() => service[Symbol.asyncDispose]());

const reconcile = async (path = "") => {
  const answer = await service.call(`/v1/reconciliation?min_sequence=${sequence}${path}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json.data;
};

test("accepted, stored and projected events are counted separately and are equal, also right after a write with min_sequence", async () => {
  const { hours, is_balanced, view_position, log_last_sequence } = await reconcile();
  expect(hours).toEqual([
    {
      hour: expect.stringMatching(/:00:00Z$/),
      accepted: 21,
      stored: 21,
      projected: 20,
      repeated: 1,
      dead_letters: 0,
      state: "balanced",
      differing: [],
      is_complete: true,
    },
  ]);
  expect([is_balanced, view_position, log_last_sequence]).toEqual([true, sequence, sequence]);
});

test("an event that the view lost is named, and found in the log", async () => {
  const database = openViewsFile(service.dataDir);
  await database.exec("CREATE TEMP TABLE gone AS SELECT * FROM events WHERE event_id IN ('evt_7', 'evt_9')");
  await database.exec("DELETE FROM events WHERE event_id IN ('evt_7', 'evt_9')");
  const { is_balanced, hours } = await reconcile();
  expect(is_balanced).toBe(false);
  expect(hours[0]).toMatchObject({
    stored: 21,
    projected: 18,
    state: "not_projected",
    is_complete: true,
    differing: [
      { event_id: "evt_7", sequence: 8, code: "not_projected" },
      { event_id: "evt_9", sequence: 10, code: "not_projected" },
    ],
  });
  await database.exec("INSERT INTO events SELECT * FROM gone");
  database.close();
  expect((await reconcile()).is_balanced).toBe(true);
});

test("an acknowledged event that is not in the log raises an alarm", async () => {
  const database = openViewsFile(service.dataDir);
  await database.exec("UPDATE ledger SET records = records - 1, repeated = 0 WHERE tenant = 'default'");
  const { is_balanced, hours } = await reconcile();
  expect([is_balanced, hours[0].state]).toEqual([false, "missing_in_log"]);
  await database.exec("UPDATE ledger SET records = records + 1, repeated = 1 WHERE tenant = 'default'");
  database.close();
});

test("hours without events are left out, too many hours are refused, and a tenant sees only its own", async () => {
  expect((await reconcile("&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z")).hours).toEqual([]);
  for (const [range, hours] of [
    ["from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z", 745],
    ["from=2020-01-01T00:00:00Z&to=2026-11-22T00:00:00Z", 60_409],
    ["from=0001-01-01T00:00:00Z&to=9999-12-31T23:00:00Z", 87_649_416],
  ] as const) {
    const { status, json } = await service.call(`/v1/reconciliation?${range}`);
    const message = `The period has ${hours} hours; at most 744 are allowed at once: send a later from or an earlier to.`;
    expect([status, json.errors]).toEqual([400, [{ path: "query:from", code: "invalid_value", message }]]);
  }
  expect((await reconcile("&from=2026-01-01T00:00:00Z&to=2026-01-31T23:59:59Z")).hours).toEqual([]);
  const key = await service.makeKey("other");
  const own = await service.call(`/v1/reconciliation?min_sequence=${sequence}`, { key });
  expect(own.json.data.hours[0]).toMatchObject({ stored: 1, projected: 1 });
});

test("an acknowledged event that the view cannot take is named with the reason", async () => {
  const body = event({ event_id: "evt_5", asset_id: "another_model" });
  const sent = await service.call("/v1/events", { body, headers: { "idempotency-key": "of-its-own" } });
  expect(sent.status).toBe(202);
  sequence = sent.json.data.sequence;
  const { is_balanced, hours } = await reconcile();
  expect(is_balanced).toBe(false);
  expect(hours.at(-1)).toMatchObject({
    state: "refused",
    dead_letters: 1,
    differing: [{ event_id: "evt_5", sequence, code: "event_id_conflict" }],
    is_complete: true,
  });
});

test("views of another log are named, and the service is not ready", async () => {
  /** Once the end of the log was looked at again: twice before it counts as lost, which until then is a reason of its own. */
  const told = async (status: number, reason = ""): Promise<string> =>
    until(`readiness says ${status} ${reason}`, async () => {
      const answer = await service.call("/health/ready");
      // Writing stops too: this may be an empty log in place of the right one.
      const without = await service.call("/health/ready?without=views");
      const isTold = [answer, without].every(
        ({ status: seen, text }) => seen === status && text.includes(reason),
      );
      return isTold && answer.text;
    });
  await told(200);
  const database = openViewsFile(service.dataDir);
  await database.exec("CREATE TEMP TABLE ends AS SELECT * FROM view_ends");
  await database.exec("UPDATE view_ends SET record = 'another' WHERE name = 'cases'");
  await told(503, "that was seen is not the one in the log");
  await database.exec(
    "UPDATE view_ends SET record = (SELECT record FROM ends WHERE ends.name = view_ends.name)",
  );
  await database.exec("UPDATE views SET position = position + 7 WHERE name = 'activity'");
  await told(503, "The view activity has seen 7 records more than the log holds");
  await database.exec("UPDATE views SET position = position - 7 WHERE name = 'activity'");
  await database.exec("UPDATE views SET position = position + 2 WHERE name IN ('assets', 'models')");
  const several = await told(503, "The views assets, models have seen 2 records more than the log holds");
  await database.exec("UPDATE views SET position = position - 2 WHERE name IN ('assets', 'models')");
  database.close();
  expect(several).toContain("Check that DATA_DIR, NATS_URL and DATABASE_URL are of one installation.");
  await told(200);
});

test("while the views are behind no event is called lost, and while they are built none is called absent", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "prooftrail-behind-"));
  const start = (roles: string) => startTestService({ DATA_DIR: dataDir, ROLES: roles });
  try {
    // Builds the views.
    await (await start("api,projector"))[Symbol.asyncDispose]();
    const more = Array.from({ length: VIEW_MADE_RECORDS_MIN }, (_, index) =>
      event({ event_id: `evt_${index}` }),
    );
    const last = 3 + more.length;
    {
      await using behind = await start("api");
      const events = ["a", "b", "c"].map((id) => event({ event_id: `evt_${id}` }));
      await behind.call("/v1/events/batch", { body: { events } });
      const read = async () => (await behind.call("/v1/reconciliation")).json.data;
      const isCounted = async () => (await read()).hours.length === 1;
      await until("the front end has handed on what it counted", isCounted);
      const { is_balanced, hours } = await read();
      expect(is_balanced).toBe(false);
      expect(hours[0]).toMatchObject({ accepted: 3, stored: 0, state: "view_behind", differing: [] });
      await behind.call("/v1/events/batch", { body: { events: more } });
      // The records after its start came just now.
      expect((await behind.call("/v1/events/evt_a")).status).toBe(404);
      expect((await behind.call("/health/ready")).status).toBe(200);
    }
    await using remaking = await start("api");
    const reasons = [`The view events is at record 0 of ${last}, and is read once it reaches the last.`];
    for (const path of ["/v1/events/evt_a", "/v1/events?q=a", "/v1/export", "/v1/evidence?asset_id=a"]) {
      const { status, json } = await remaking.call(path);
      expect([path, status, json.code, json.reasons]).toEqual([path, 503, "not_ready", reasons]);
    }
    expect((await remaking.call("/health/ready")).json.reasons).toEqual(expect.arrayContaining(reasons));
    const read = (await remaking.call("/v1/reconciliation")).json.data;
    expect(read).toMatchObject({ log_last_sequence: last, view_position: 0 });
    const waiting = ["/v1/events/evt_a", "/v1/export"].map((path) =>
      // The log says nothing about an export that nobody gets.
      remaking.call(`${path}?min_sequence=${last}`, { method: "HEAD" }),
    );
    // This request is answered after them.
    await remaking.call("/v1/reconciliation");
    // No projector moves these views.
    const database = openViewsFile(dataDir);
    const stand = (position: number, name: string) =>
      database.exec(`UPDATE views SET position = ${position} WHERE name LIKE '${name}'`);
    await stand(last, "%");
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([404, 200]);
    expect((await remaking.call("/v1/events/evt_a")).status).toBe(404);
    expect((await remaking.call("/health/ready")).status).toBe(200);
    // A view that got this far once is only behind.
    await stand(0, "events");
    expect((await remaking.call("/v1/events/evt_a")).status).toBe(404);
    // Views that are further behind than readiness allows do not stop writes.
    for (const [behindBy, whole, reasons] of [
      [VIEW_LAG_RECORDS_MAX, 200, undefined],
      [VIEW_LAG_RECORDS_MAX + 1, 503, ["The view activity is 50001 records behind the log."]],
    ] as const) {
      await stand(last - behindBy, "activity");
      const { status, json } = await remaking.call("/health/ready");
      expect([status, json.reasons]).toEqual([whole, reasons]);
      expect((await remaking.call("/health/ready?without=views")).status).toBe(200);
    }
    database.close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test("views that a process of another version rebuilt are named, and the service is not ready", async () => {
  const database = openViewsFile(service.dataDir);
  await database.exec("UPDATE views SET version = version + 1 WHERE name = 'activity'");
  const { status, json } = await service.call("/health/ready");
  await database.exec("UPDATE views SET version = version - 1 WHERE name = 'activity'");
  database.close();
  expect([status, json.reasons?.length]).toEqual([503, 1]);
  expect(json.reasons[0]).toContain("The view activity was built by another version");
  await until("the service is ready again", async () => (await service.call("/health/ready")).status === 200);
});

test("where nothing was counted the hour is not counted, and the balance stays open until it is", async () => {
  await using broker = await startTestBroker();
  await using uncounted = await startTestService(settingsFor(broker));
  const provisioner = await connectAs(broker, "provisioner");
  const { streams } = await provisioner.jetstreamManager({ checkAPI: false });
  const { config } = await streams.info("COUNTS");
  await streams.update("COUNTS", { ...config, subjects: ["elsewhere"] });
  const key = await uncounted.makeKey("acme");
  const sent = await uncounted.call("/v1/events", { key, body: event({ event_id: "evt_1" }) });
  const path = `/v1/reconciliation?min_sequence=${sent.json.data.sequence}`;
  const read = async () => (await uncounted.call(path, { key })).json.data;
  expect(await read()).toMatchObject({
    is_balanced: null,
    hours: [{ accepted: null, stored: 1, projected: 1, state: "not_counted" }],
  });
  await streams.update("COUNTS", config);
  await provisioner.close();
  const isCounted = async () => {
    const { is_balanced, hours } = await read();
    return is_balanced !== null && [is_balanced, hours[0].accepted, hours[0].state];
  };
  expect(await until("it is counted", isCounted)).toEqual([true, 1, "balanced"]);
});
