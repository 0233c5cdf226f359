/** Every hour is reconciled automatically soon after it ended: seen from another process on the same broker and file, with a clock an hour ahead. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createAcceptedCounter } from "../../src/nats/accepted-counter.ts";
import { connectToBroker } from "../../src/nats/connection.ts";
import { createLogReader } from "../../src/nats/reader.ts";
import { createReconciler } from "../../src/views/ledger/reconciler.ts";
import { RECONCILIATION } from "../../src/views/ledger/tables.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { openViewsFile } from "../support/views-file.ts";

const HOUR_MS = 60 * 60 * 1000;

test("each hour that has ended is reconciled once per tenant, and an event that the view lost raises an alarm with its name", async () => {
  await using broker = await startTestBroker();
  const [NATS_URL, NATS_PROVISION_URL] = [broker.url("service"), broker.url("provisioner")];
  await using service = await startTestService({ NATS_URL, NATS_PROVISION_URL });
  const events = Array.from({ length: 5 }, (_, index) => event({ event_id: `evt_${index}` }));
  const key = await service.makeKey("other");
  await service.call("/v1/events/batch", { body: { events } });
  const sent = await service.call("/v1/events", { key, body: event({ event_id: "evt_1" }) });
  const { sequence, received_at: receivedAt } = sent.json.data;
  await service.call(`/v1/reconciliation?min_sequence=${sequence}`);

  const connection = await connectToBroker({ url: NATS_URL, name: "later", logger: silentLogger });
  await using views = createSqliteViews({ path: join(service.dataDir, "views.sqlite") });
  const accepted = await createAcceptedCounter({ connection, logger: silentLogger });
  const hour = receivedAt.slice(0, 13);
  await until("all counts are handed on", async () => (await accepted.tenants(hour)).length === 3);
  const log = await createLogReader(connection);
  const found: unknown[] = [];
  const errors: unknown[] = [];
  const startReconciler = (now: Date) =>
    createReconciler({
      views,
      log,
      accepted,
      clock: () => now,
      onHour: (balances) =>
        found.push(...balances.map(({ tenant, state, projected }) => [tenant, state, projected])),
      logger: { ...silentLogger, error: (_message, fields) => void errors.push(fields) },
    });

  const { signal } = new AbortController();
  // The service's own reconciler may have done the hours before.
  await startReconciler(new Date(Date.parse(`${hour}:59:59Z`))).look(signal);
  expect(found).toEqual([]);
  // More than two minutes after the hour.
  const after = new Date(Date.parse(`${hour}:03:00Z`) + HOUR_MS);
  const reconciler = startReconciler(after);
  expect(await reconciler.look(signal)).toBe("reconciled");
  expect(found.toSorted()).toEqual([
    ["default", "balanced", 5],
    ["other", "balanced", 1],
    // The record that the key was made.
    ["prooftrail-system", "balanced", 1],
  ]);
  expect([await reconciler.look(signal), errors]).toEqual(["nothing_new", []]);

  const database = openViewsFile(service.dataDir);
  await database.exec("DELETE FROM events WHERE event_id = 'evt_3'");
  database.close();
  await views.drop(RECONCILIATION.name);
  await startReconciler(after).look(signal);
  const detail = `not_projected, hour ${hour}: accepted 5, stored 5, projected 4; evt_3`;
  expect(errors).toEqual([{ tenant: "default", count: 1, detail }]);
  await accepted.close();
  await connection.close();
});
