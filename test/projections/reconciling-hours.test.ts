/** The reconciler, if views were behind for hours, and if the log holds records that no version of the program wrote. */
import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { RECONCILED_EVENTS_NAMED_MAX } from "../../src/limits.ts";
import type { Hour } from "../../src/log/accepted-counts.ts";
import type { LogReader, StoredMessage } from "../../src/log/event-log.ts";
import { balanceMetrics } from "../../src/service/projector.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { reconcile } from "../../src/views/ledger/reconcile.ts";
import { createReconciler } from "../../src/views/ledger/reconciler.ts";
import { silentLogger } from "../support/broker.ts";
import { createArrayLog } from "./array-log.ts";
import { messageOf, poisonMessage, simpleEvent } from "./records.ts";
import { allStandAt, run } from "./running.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const { signal } = new AbortController();

/** Views that have read these messages, and the log. */
const projected = async (messages: readonly StoredMessage[]) => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(createSqliteDatabase());
  const views = stack.use(database.connect());
  const log = createArrayLog(messages);
  {
    await using _runner = run(log, views);
    await allStandAt(views, messages.length);
  }
  const accepted = { tenants: async () => [], read: async () => new Map() };
  return {
    ...{ views, log },
    alter: (sql: string): void => {
      const file = new DatabaseSync(database.path);
      file.exec(sql);
      file.close();
    },
    reconciled: (hours: readonly Hour[], ofLog: LogReader = log) =>
      reconcile({ views, log: ofLog, accepted }, "acme", hours),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

const TEN = "2026-11-20T10";
const messagesOf = (...ids: readonly string[]): StoredMessage[] =>
  ids.map((id, index) => messageOf(index + 1, { event: simpleEvent(id) }));

const linesOf = async ({ registry }: Metrics, beginning: string): Promise<readonly string[]> =>
  (await registry.metrics()).split("\n").filter((line) => line.startsWith(beginning));

test("metrics show only the tenants of the last hour, even if it had none, and one state for each tenant that had events", async () => {
  const tenants = ["acme", "globex"];
  await using parts = await projected(
    tenants.map((tenant, index) =>
      messageOf(index + 1, {
        tenant,
        receivedAt: `2026-11-20T1${index}:30:00.000Z`,
        event: simpleEvent(`evt_${index}`),
      }),
    ),
  );
  const metrics = createMetrics();
  const hours = (tenant: string) =>
    `prooftrail_reconciled_hours_total{tenant="${tenant}",state="balanced"} 1`;
  const events = (tenant: string) =>
    ["accepted", "stored", "projected"].map(
      (stage) => `prooftrail_reconciled_events{tenant="${tenant}",stage="${stage}"} 1`,
    );
  let now = "";
  const reconciler = createReconciler({
    ...parts,
    accepted: {
      tenants: async (hour) => tenants.filter((_, index) => hour === `2026-11-20T1${index}`),
      read: async (_tenant, asked) => new Map(asked.map((hour) => [hour, 1])),
    },
    clock: () => new Date(now),
    onHour: balanceMetrics(metrics),
    logger: silentLogger,
  });
  for (const [time, shown] of [
    ["11:03", [hours("acme"), ...events("acme")]],
    ["12:03", [hours("acme"), hours("globex"), ...events("globex")]],
    ["13:03", [hours("acme"), hours("globex")]],
  ] as const) {
    now = `2026-11-20T${time}:00Z`;
    await reconciler.look(signal);
    expect(await linesOf(metrics, "prooftrail_reconciled_")).toEqual([...shown]);
  }
});

test("an alarm is counted once and by its state alone, so that a tenant's first bad hour is an increase", async () => {
  await using parts = await projected(messagesOf("evt_1"));
  const metrics = createMetrics();
  let failures = 1;
  const expectMissing = async (count: number): Promise<void> => {
    const shown = { refused: 0, missing_in_log: count, not_projected: 0 };
    expect(await linesOf(metrics, "prooftrail_reconciliation_alarms_total")).toEqual(
      Object.entries(shown).map(
        ([state, value]) => `prooftrail_reconciliation_alarms_total{state="${state}"} ${value}`,
      ),
    );
  };
  const reconciler = createReconciler({
    ...parts,
    accepted: {
      tenants: async (hour) => (hour === TEN ? ["acme", "globex"] : []),
      // Of the one event of acme two were acknowledged, of globex there is none.
      read: async (tenant, asked) => {
        if (tenant === "globex" && failures-- > 0) throw new Error("the broker is away");
        return new Map(asked.map((hour) => [hour, 2]));
      },
    },
    clock: () => new Date("2026-11-20T11:03:00Z"),
    onHour: balanceMetrics(metrics),
    logger: silentLogger,
  });
  await expectMissing(0);
  await expect(reconciler.look(signal)).rejects.toThrow("away");
  await expectMissing(0);
  await reconciler.look(signal);
  await expectMissing(2);
});

test("an event that a view has lost is named even if another record's event is not JSON", async () => {
  const [first, , third] = messagesOf("evt_1", "evt_2", "evt_3");
  if (!(first && third)) throw new Error("three messages");
  const poison = `{"tenant":"acme","received_at":"${TEN}:00:00.000Z","request_id":"0","event":{secret}}`;
  await using parts = await projected([first, poisonMessage(2, poison), third]);
  parts.alter("DELETE FROM events WHERE event_id = 'evt_3'");
  const [balance] = await parts.reconciled([TEN]);
  expect(balance?.state).toBe("not_projected");
  expect(balance?.differing.map(({ sequence }) => sequence)).toContain(3);
});

test("if the view has processed more of the hour than the log holds, missing events are named as far as the log goes", async () => {
  const messages = messagesOf("evt_1", "evt_2", "evt_3");
  await using parts = await projected(messages);
  parts.alter("DELETE FROM events WHERE event_id <> 'evt_1'");
  for (const [held, named, isComplete] of [
    [3, [2, 3], true],
    [2, [2], false],
    [0, [], false],
  ] as const) {
    const [balance] = await parts.reconciled([TEN], createArrayLog(messages.slice(0, held)));
    expect(balance).toMatchObject({ state: "not_projected", isComplete });
    expect(balance?.differing.map(({ sequence }) => sequence)).toEqual([...named]);
  }
});

test("hours that overlap in the log each show their own refused records, however many the other hour has", async () => {
  const [nine, eleven] = ["2026-11-20T09", "2026-11-20T11"];
  const refusedAtEleven = 1001;
  const records: readonly (readonly [Hour, object])[] = [
    [nine, simpleEvent("evt_early")],
    [TEN, simpleEvent("evt_a")],
    [eleven, simpleEvent("evt_b")],
    ...Array.from({ length: refusedAtEleven }, (_, index): [Hour, object] => [
      eleven,
      simpleEvent("evt_b", { asset_id: `other_${index}` }),
    ]),
    [TEN, simpleEvent("evt_c")],
    [TEN, simpleEvent("evt_a", { asset_id: "other" })],
    [eleven, simpleEvent("evt_d")],
    [nine, simpleEvent("evt_late")],
  ];
  await using parts = await projected(
    records.map(([hour, event], index) => messageOf(index + 1, { receivedAt: `${hour}:00:00.000Z`, event })),
  );
  const balances = await parts.reconciled([nine, TEN, eleven]);
  const conflicts = (count: number) => Array.from({ length: count }, () => ({ code: "event_id_conflict" }));
  expect(balances).toMatchObject([
    { deadLetters: 0, state: "not_counted", isComplete: true, differing: [] },
    { deadLetters: 1, state: "refused", isComplete: true, differing: conflicts(1) },
    // One more: the record of the other hour that lies behind those that are named.
    {
      ...{ deadLetters: refusedAtEleven + 1, state: "refused", isComplete: false },
      differing: conflicts(RECONCILED_EVENTS_NAMED_MAX),
    },
  ]);
});
