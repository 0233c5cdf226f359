import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import type { SearchWords } from "../../src/event/search-text.ts";
import { type EventFilter, findQuery, searchQuery } from "../../src/projections/events/queries.ts";
import { sqliteParameter } from "../../src/views/sqlite.ts";
import type { TenantQuery } from "../../src/views/tenant-query.ts";
import { all, base, eventsSearchSuite, hash, manyRecords, projectEvents } from "../suites/events-search.ts";
import { eventsWordsSuite } from "../suites/events-words.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

eventsSearchSuite("SQLite", createSqliteDatabase);
eventsWordsSuite("SQLite", createSqliteDatabase);
if (noPostgresReason === undefined) {
  eventsSearchSuite("PostgreSQL", createPostgresDatabase);
  eventsWordsSuite("PostgreSQL", createPostgresDatabase);
} else test.skip(`searching events in PostgreSQL: ${noPostgresReason}`, () => undefined);

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
      .all(...params.map(sqliteParameter))
      .map(({ detail }) => String(detail));
  const { assetId, tags } = everyFilter;
  for (const [filter, searchedBy] of [
    ...singleFilters,
    [{ assetId, tags }, "tenant=? AND key=? AND value=?"],
    [everyFilter, "tenant=? AND trace_id=?"],
  ] as const) {
    for (const order of ["asc", "desc"] as const) {
      for (const after of [undefined, 5]) {
        const plan = planOf(searchQuery("acme", { ...all, ...filter, order }, { after, rowsMax: 10 }));
        expect(plan.filter((step) => !step.startsWith("SEARCH"))).toEqual([]);
        // Whatever is not read in order is looked up by its one sequence.
        expect(plan.slice(1).filter((step) => !step.includes("sequence=?"))).toEqual([]);
        // Below 0 stands what has expired: the range begins behind it.
        const cursor =
          order === "desc" && after !== undefined ? " AND sequence>? AND sequence<?" : " AND sequence>?";
        expect(plan[0]).toEndWith(`(${searchedBy}${cursor})`);
      }
    }
  }
  expect(planOf(findQuery("acme", "evt_1"))).toEqual([expect.stringContaining("(tenant=? AND event_id=?)")]);
});

/** `M` in FTS5's plan: a MATCH; `=`, `<`, `>`: what is asked of the rowid beside it. */
const TEXT_STEP = /^SCAN text0 VIRTUAL TABLE INDEX \d+:M\d[<>]{0,2}$/;
const text: SearchWords = { words: ["dec_42"], prefixes: ["cred"] };

test("a search for words reads the text index in the order of the answer, and of the events only those that it finds", async () => {
  await using at = await manyEvents();
  using database = new DatabaseSync(at.path, { readOnly: true });
  const planOf = ({ sql, params }: TenantQuery): string[] =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...params.map(sqliteParameter))
      .map(({ detail }) => String(detail));
  const { legalBasis, riskTier, assetId, eventType, from, tags } = everyFilter;
  for (const filter of [{}, { assetId, eventType }, { riskTier }, { legalBasis, tags }, { from }]) {
    for (const order of ["asc", "desc"] as const) {
      for (const after of [undefined, 5]) {
        const [first = "", ...steps] = planOf(
          searchQuery("acme", { ...all, ...filter, text, order }, { after, rowsMax: 10 }),
        );
        expect(first).toMatch(TEXT_STEP);
        if (after !== undefined) expect(first).toEndWith(order === "asc" ? ">" : "<");
        expect(steps.filter((step) => !/^SEARCH .* \(tenant=\? AND .*sequence=\?/.test(step))).toEqual([]);
        expect(steps.at(-1)).toStartWith("SEARCH main ");
      }
    }
  }
  // Here the filter has fewer events than any word, and the text index is asked about each of them.
  const { traceId, correlationId, subjectHash } = everyFilter;
  for (const filter of [{ traceId }, { correlationId }, { subjectHash }]) {
    const [first, ...others] = planOf(
      searchQuery("acme", { ...all, ...filter, text }, { after: undefined, rowsMax: 10 }),
    );
    expect(first).toStartWith("SEARCH main USING INDEX");
    expect(others).toEqual([expect.stringMatching(/^SCAN text0 VIRTUAL TABLE INDEX \d+:=M\d$/)]);
  }
});

test("with several filters the one that fewest events match decides where rows are read", async () => {
  await using at = await manyEvents();
  using database = new DatabaseSync(at.path, { readOnly: true });
  const firstStep = (filter: Partial<EventFilter>): string => {
    const { sql, params } = searchQuery("acme", { ...all, ...filter }, { after: undefined, rowsMax: 10 });
    return String(database.prepare(`EXPLAIN QUERY PLAN ${sql}`).get(...params.map(sqliteParameter))?.detail);
  };
  const { legalBasis, riskTier, assetId, correlationId, eventType } = everyFilter;
  const tags = [{ key: "k", value: "v" }];
  expect(firstStep({ riskTier, legalBasis, correlationId, tags })).toContain("correlation_id=?");
  expect(firstStep({ riskTier, legalBasis, assetId, tags })).toContain("key=? AND value=?");
  expect(firstStep({ riskTier, legalBasis, assetId, eventType })).toContain("asset_id=?");
});
