import { expect, test } from "bun:test";
import { OBLIGATION_STATES } from "../../src/law/obligations/obligation.ts";
import { OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import { countObligations } from "../../src/views/duty-notifications/counts.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import { NOTIFIED_DUTIES } from "../../src/views/kit/limits.ts";
import { CASES } from "../suites/expiry.ts";
import { messageOf } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const COUNT = NOTIFIED_DUTIES + 1;

test("obligations of all tenants are counted by state, in pages with rests between them", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const projections = [eventsProjection, CASES];
  for (const projection of projections) await views.open(projection);
  const messages = Array.from({ length: COUNT }, (_, index) =>
    messageOf(index + 1, {
      tenant: index % 2 === 0 ? "acme" : "zeta",
      event: {
        event_id: `evt_${index}`,
        event_type: "objection.received",
        // The last one comes much later than the others.
        timestamp: index === COUNT - 1 ? "2026-11-20T10:00:00Z" : "2025-11-20T10:00:00Z",
        asset_id: "a",
        legal_bases: ["pipa_37_2_kr"],
        metadata: { objection_id: `obj_${index}` },
      },
    }),
  );
  const evolved = await applyBatch({ projections, messages, load: views.load, now: "" });
  await views.commit({ views: projections, from: 0, to: COUNT, ...evolved });
  let rows = 0;
  await views.snapshot(CASES, async (snapshot) => {
    for await (const page of snapshot.rows(OBLIGATIONS)) rows += page.length;
  });
  expect(rows).toBeGreaterThanOrEqual(COUNT);

  let rests = 0;
  const pause = async (): Promise<void> => void rests++;
  const { signal } = new AbortController();
  const now = (): Date => new Date("2026-11-21T00:00:00Z");
  const counts = await countObligations({ views, now, pause, signal });
  expect(rests).toBeGreaterThan(0);
  expect([...(counts?.keys() ?? [])]).toEqual([...OBLIGATION_STATES]);
  expect((counts?.get("overdue") ?? 0) + (counts?.get("open") ?? 0) + (counts?.get("due_soon") ?? 0)).toBe(
    rows,
  );
  expect(counts?.get("overdue")).toBeGreaterThanOrEqual(COUNT - 1);
  expect(counts?.get("overdue")).toBeLessThan(rows);
  expect(await countObligations({ views, now, pause, signal: AbortSignal.abort() })).toBeUndefined();
});
