/** The reconciler, if views were behind for hours, and if the log holds records that no version of the program wrote. */
import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import type { Hour } from "../../src/log/accepted-counts.ts";
import { balanceMetrics } from "../../src/service/projector.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { reconcile } from "../../src/views/ledger/reconcile.ts";
import { createReconciler } from "../../src/views/ledger/reconciler.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { silentLogger } from "../support/broker.ts";
import { type ArrayLog, createArrayLog } from "./array-log.ts";
import { messageOf, poisonMessage, simpleEvent } from "./records.ts";
import { allStandAt, run } from "./running.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const { signal } = new AbortController();
const project = async (log: ArrayLog, views: ViewStore, end: number): Promise<void> => {
  await using _runner = run(log, views);
  await allStandAt(views, end);
};

test("metrics show only the tenants of the last hour, even if it had none, and one state for each tenant that had events", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const tenants = ["acme", "globex"];
  const log = createArrayLog(
    tenants.map((tenant, index) =>
      messageOf(index + 1, {
        tenant,
        receivedAt: `2026-11-20T1${index}:30:00.000Z`,
        event: simpleEvent(`evt_${index}`),
      }),
    ),
  );
  await project(log, views, tenants.length);
  const metrics = createMetrics();
  const shown = () => linesOf(metrics, "prooftrail_reconciled_");
  const hours = (tenant: string) =>
    `prooftrail_reconciled_hours_total{tenant="${tenant}",state="balanced"} 1`;
  const events = (tenant: string) =>
    ["accepted", "stored", "projected"].map(
      (stage) => `prooftrail_reconciled_events{tenant="${tenant}",stage="${stage}"} 1`,
    );
  let now = "";
  const reconciler = createReconciler({
    views,
    log,
    accepted: {
      tenants: async (hour) => tenants.filter((_, index) => hour === `2026-11-20T1${index}`),
      read: async (_tenant, asked) => new Map(asked.map((hour) => [hour, 1])),
    },
    clock: () => new Date(now),
    onHour: balanceMetrics(metrics),
    logger: silentLogger,
  });
  const shownAt = async (time: string): Promise<readonly string[]> => {
    now = `2026-11-20T${time}:00Z`;
    await reconciler.look(signal);
    return shown();
  };
  expect(await shownAt("11:03")).toEqual([hours("acme"), ...events("acme")]);
  expect(await shownAt("12:03")).toEqual([hours("acme"), hours("globex"), ...events("globex")]);
  expect(await shownAt("13:03")).toEqual([hours("acme"), hours("globex")]);
});

const linesOf = async ({ registry }: Metrics, beginning: string): Promise<readonly string[]> =>
  (await registry.metrics()).split("\n").filter((line) => line.startsWith(beginning));

test("an alarm is counted once and by its state alone, so that a tenant's first bad hour is an increase", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const log = createArrayLog([messageOf(1, { tenant: "acme", event: simpleEvent("evt_1") })]);
  await project(log, views, 1);
  const metrics = createMetrics();
  const onHour = balanceMetrics(metrics);
  let failures = 1;
  const alarms = () => linesOf(metrics, "prooftrail_reconciliation_alarms_total");
  const counted = (count: number) =>
    [
      ["refused", 0],
      ["missing_in_log", count],
      ["not_projected", 0],
    ].map(([state, value]) => `prooftrail_reconciliation_alarms_total{state="${state}"} ${value}`);
  expect(await alarms()).toEqual(counted(0));
  const reconciler = createReconciler({
    views,
    log,
    accepted: {
      tenants: async (hour) => (hour === "2026-11-20T10" ? ["acme", "globex"] : []),
      // Of the one event of acme two were acknowledged, of globex there is none.
      read: async (tenant, asked) => {
        if (tenant === "globex" && failures-- > 0) throw new Error("the broker is away");
        return new Map(asked.map((hour) => [hour, 2]));
      },
    },
    clock: () => new Date("2026-11-20T11:03:00Z"),
    onHour,
    logger: silentLogger,
  });
  await expect(reconciler.look(signal)).rejects.toThrow("away");
  expect(await alarms()).toEqual(counted(0));
  await reconciler.look(signal);
  expect(await alarms()).toEqual(counted(2));
});

test("an event that a view has lost is named even if another record's event is not JSON", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const poison = `{"tenant":"acme","received_at":"2026-11-20T10:00:00.000Z","request_id":"0","event":{secret}}`;
  const log = createArrayLog([
    messageOf(1, { event: simpleEvent("evt_1") }),
    poisonMessage(2, poison),
    messageOf(3, { event: simpleEvent("evt_3") }),
  ]);
  await project(log, views, 3);
  const file = new DatabaseSync(database.path);
  file.exec("DELETE FROM events WHERE event_id = 'evt_3'");
  file.close();
  const accepted = { tenants: async () => [], read: async () => new Map() };
  const [balance] = await reconcile({ views, log, accepted }, "acme", ["2026-11-20T10"]);
  expect(balance?.state).toBe("not_projected");
  expect(balance?.differing.map(({ sequence }) => sequence)).toContain(3);
});

test("if the view has processed more of the hour than the log holds, missing events are named as far as the log goes", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const messages = [1, 2, 3].map((sequence) =>
    messageOf(sequence, { event: simpleEvent(`evt_${sequence}`) }),
  );
  await project(createArrayLog(messages), views, messages.length);
  const file = new DatabaseSync(database.path);
  file.exec("DELETE FROM events WHERE event_id <> 'evt_1'");
  file.close();
  const accepted = { tenants: async () => [], read: async () => new Map() };
  const named: unknown[] = [];
  for (const held of [3, 2, 0]) {
    const log = createArrayLog(messages.slice(0, held));
    const [balance] = await reconcile({ views, log, accepted }, "acme", ["2026-11-20T10"]);
    named.push([balance?.differing.map(({ sequence }) => sequence), balance?.isComplete, balance?.state]);
  }
  expect(named).toEqual([
    [[2, 3], true, "not_projected"],
    [[2], false, "not_projected"],
    [[], false, "not_projected"],
  ]);
});

test("hours that overlap in the log each show their own refused records, however many the other hour has", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const [nine, ten, eleven] = ["2026-11-20T09", "2026-11-20T10", "2026-11-20T11"] as const;
  const refusedAtEleven = 1001;
  const records: readonly (readonly [Hour, object])[] = [
    [nine, simpleEvent("evt_early")],
    [ten, simpleEvent("evt_a")],
    [eleven, simpleEvent("evt_b")],
    ...Array.from({ length: refusedAtEleven }, (_, index): [Hour, object] => [
      eleven,
      simpleEvent("evt_b", { asset_id: `other_${index}` }),
    ]),
    [ten, simpleEvent("evt_c")],
    [ten, simpleEvent("evt_a", { asset_id: "other" })],
    [eleven, simpleEvent("evt_d")],
    [nine, simpleEvent("evt_late")],
  ];
  const log = createArrayLog(
    records.map(([hour, event], index) => messageOf(index + 1, { receivedAt: `${hour}:00:00.000Z`, event })),
  );
  await project(log, views, records.length);
  const accepted = { tenants: async () => [], read: async () => new Map() };
  const balances = await reconcile({ views, log, accepted }, "acme", [nine, ten, eleven]);
  const codes = (count: number) => Array.from({ length: count }, () => "event_id_conflict");
  expect(
    balances.map(({ deadLetters, state, isComplete, differing }) => ({
      deadLetters,
      state,
      isComplete,
      codes: differing.map(({ code }) => code),
    })),
  ).toEqual([
    { deadLetters: 0, state: "not_counted", isComplete: true, codes: [] },
    { deadLetters: 1, state: "refused", isComplete: true, codes: codes(1) },
    // One more: the record of the other hour that lies behind those that are named.
    { deadLetters: refusedAtEleven + 1, state: "refused", isComplete: false, codes: codes(100) },
  ]);
});
