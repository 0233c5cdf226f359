import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { type EventFilter, findQuery, searchQuery } from "../../src/projections/events/queries.ts";
import type { TenantQuery } from "../../src/views/tenant-query.ts";
import { all, base, eventsSearchSuite, hash, manyRecords, projectEvents } from "../suites/events-search.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

eventsSearchSuite("SQLite", createSqliteDatabase);
if (noPostgresReason === undefined) eventsSearchSuite("PostgreSQL", createPostgresDatabase);
else test.skip(`searching events in PostgreSQL: ${noPostgresReason}`, () => undefined);

/** A file that holds many events. PostgreSQL plans by its statistics, so only SQLite's plans are looked at. */
const manyEvents = async () => {
  const database = createSqliteDatabase();
  await using views = database.connect();
  await projectEvents(views, manyRecords);
  return database;
};

/** Each filter alone, and what its index is searched by. */
const singleFilters: readonly (readonly [Partial<EventFilter>, string])[] = [
  [{}, "tenant=?"],
  [{ assetId: "a" }, "tenant=? AND asset_id=?"],
  [{ eventType: "objection" }, "tenant=? AND event_type=?"],
  [{ eventGroup: "legacy" }, "tenant=? AND event_group=?"],
  [{ riskTier: "high" }, "tenant=? AND risk_tier=?"],
  [{ legalBasis: "x" }, "tenant=? AND legal_basis=?"],
  [{ correlationId: "c" }, "tenant=? AND correlation_id=?"],
  [{ subjectHash: hash("a") }, "tenant=? AND subject_hash=?"],
  [{ traceId: "t" }, "tenant=? AND trace_id=?"],
  [{ tags: [{ key: "k", value: "v" }] }, "tenant=? AND key=? AND value=?"],
  [{ from: base.timestamp, to: base.timestamp }, "tenant=?"],
  [{ from: base.timestamp, timeField: "received_at" }, "tenant=?"],
];
const everyFilter: Partial<EventFilter> = Object.assign({}, ...singleFilters.map(([filter]) => filter));

test("every search reads an index in the order of the answer: no table scan, no sorting", async () => {
  await using at = await manyEvents();
  using database = new DatabaseSync(at.path, { readOnly: true });
  const planOf = ({ sql, params }: TenantQuery): string[] =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...params)
      .map(({ detail }) => String(detail));
  for (const [filter, searchedBy] of [...singleFilters, [everyFilter, "tenant=? AND trace_id=?"]] as const) {
    for (const order of ["asc", "desc"] as const) {
      for (const after of [undefined, 5]) {
        const plan = planOf(searchQuery("acme", { ...all, ...filter, order }, { after, rowsMax: 10 }));
        expect(plan.filter((step) => !step.startsWith("SEARCH"))).toEqual([]);
        // Below 0 stands what has expired: the range begins behind it.
        const cursor =
          order === "desc" && after !== undefined ? " AND sequence>? AND sequence<?" : " AND sequence>?";
        expect(plan[0]).toEndWith(`(${searchedBy}${cursor})`);
      }
    }
  }
  expect(planOf(findQuery("acme", "evt_1"))).toEqual([expect.stringContaining("(tenant=? AND event_id=?)")]);
});

test("with several filters the one that fewest events match decides where rows are read", async () => {
  await using at = await manyEvents();
  using database = new DatabaseSync(at.path, { readOnly: true });
  const firstStep = (filter: Partial<EventFilter>): string => {
    const { sql, params } = searchQuery("acme", { ...all, ...filter }, { after: undefined, rowsMax: 10 });
    return String(database.prepare(`EXPLAIN QUERY PLAN ${sql}`).get(...params)?.detail);
  };
  const { legalBasis, riskTier, assetId, correlationId, eventType } = everyFilter;
  const tags = [{ key: "k", value: "v" }];
  expect(firstStep({ riskTier, legalBasis, correlationId, tags })).toContain("correlation_id=?");
  expect(firstStep({ riskTier, legalBasis, assetId, tags })).toContain("key=? AND value=?");
  expect(firstStep({ riskTier, legalBasis, assetId, eventType })).toContain("asset_id=?");
});
