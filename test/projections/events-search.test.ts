import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { earlierQuery } from "../../src/views/events/earlier.ts";
import { type EventFilter, findQuery, searchQuery } from "../../src/views/events/queries.ts";
import { createPostgresViews } from "../../src/views/store/postgres.ts";
import { sqliteParameter } from "../../src/views/store/sqlite.ts";
import type { TenantQuery } from "../../src/views/store/tenant-query.ts";
import { postgresMatchText } from "../../src/views/store/text-index.ts";
import { earlierEventsSuite } from "../suites/earlier-events.ts";
import { all, base, eventsSearchSuite, hash, manyRecords, projectEvents } from "../suites/events-search.ts";
import { eventsWordsSuite } from "../suites/events-words.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

eventsSearchSuite("SQLite", createSqliteDatabase);
eventsWordsSuite("SQLite", createSqliteDatabase);
earlierEventsSuite("SQLite", createSqliteDatabase);
if (noPostgresReason === undefined) {
  eventsSearchSuite("PostgreSQL", createPostgresDatabase);
  eventsWordsSuite("PostgreSQL", createPostgresDatabase);
  earlierEventsSuite("PostgreSQL", createPostgresDatabase);
} else test.skip(`searching events in PostgreSQL: ${noPostgresReason}`, () => undefined);

/** A file with many events. PostgreSQL plans by its statistics, so only SQLite's plans are checked for all combinations. */
const manyEvents = async () => {
  const database = createSqliteDatabase();
  await using views = database.connect();
  await projectEvents(views, manyRecords);
  return database;
};

const filters: readonly Partial<EventFilter>[] = [
  { assetId: "a" },
  { eventType: "objection.received" },
  { eventGroup: "objection" },
  { riskTier: "high" },
  { legalBasis: "x" },
  { correlationId: "c" },
  { subjectHash: hash("a") },
  { traceId: "t" },
  { tags: [{ key: "k", value: "v" }] },
  { from: base.timestamp, to: base.timestamp },
  { from: base.timestamp, timeField: "received_at" },
  { text: { words: ["dec_42"], prefixes: ["cred"] } },
  { noneOf: [{ assetId: "b" }, { riskTier: "low" }] },
];

/** Every pair of filters, and all filters together. */
const combinations: readonly Partial<EventFilter>[] = [
  ...filters.flatMap((one) => filters.map((other) => ({ ...one, ...other }))),
  Object.assign({}, ...filters),
];

/** In FTS5's plan `M` is a MATCH; `=`, `<` and `>` are conditions on the rowid. The lower bound is 0, because expired events are below it. */
const TEXT_STEP = /^SCAN text0 VIRTUAL TABLE INDEX \d+:M\d([<>]+)$/;

test("every search reads an index in the order of the answer, and only the matching events: no table scan, no sorting", async () => {
  await using at = await manyEvents();
  using database = new DatabaseSync(at.path, { readOnly: true });
  const planOf = ({ sql, params }: TenantQuery): string[] =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...params.map(sqliteParameter))
      .map(({ detail }) => String(detail));
  for (const order of ["asc", "desc"] as const) {
    for (const after of [undefined, 5]) {
      const isCut = order === "desc" && after !== undefined;
      const ask = (filter: Partial<EventFilter>) =>
        planOf(searchQuery("acme", { ...all, ...filter, order }, { after, rowsMax: 10 }));
      for (const filter of combinations) {
        const [first = "", ...others] = ask(filter);
        expect(TEXT_STEP.exec(first)?.[1]).toBe(isCut ? "><" : ">");
        expect(others).toEqual([
          expect.stringMatching(
            /^SEARCH main USING INDEX events_by_tenant_sequence.* \(tenant=\? AND sequence=\?/,
          ),
        ]);
      }
      const bounds = isCut ? " AND sequence>? AND sequence<?" : " AND sequence>?";
      expect(ask({})).toEqual([expect.stringMatching(/^SEARCH main USING INDEX events_by_tenant_sequence/)]);
      expect(ask({})[0]).toEndWith(`(tenant=?${bounds})`);
    }
  }
  for (const query of [findQuery("acme", "evt_1"), earlierQuery("acme", ["evt_1", "evt_2"])])
    expect(planOf(query)).toEqual([expect.stringContaining("(tenant=? AND event_id=?)")]);
});

/** FTS5 ignores a bound that is not an integer, and reads all rows before it. */
test("the database gets the bound of a search as an integer", () => {
  using database = new DatabaseSync(":memory:");
  for (const bound of [5, 2 ** 53 - 1])
    expect(database.prepare("SELECT typeof(?) AS kind").get(sqliteParameter(bound))?.kind).toBe("integer");
});

/** One event per minute. */
const minutes = Array.from({ length: 3000 }, (_, minute) => {
  const time = new Date(Date.parse("2026-11-01T00:00:00Z") + minute * 60_000).toISOString();
  return { event: { ...base, event_id: `evt_${minute}`, timestamp: time }, receivedAt: time };
});

/** Asks a PostgreSQL that holds these events for its plan, with statistics or without. */
const withPlansOfMinutes = async (
  ask: (planOf: (query: TenantQuery) => Promise<string>) => Promise<void>,
  { hasStatistics } = { hasStatistics: true },
): Promise<void> => {
  const server = await testPostgres();
  await using database = await server.createDatabase();
  await using views = createPostgresViews({ url: database.url });
  await projectEvents(views, minutes);
  const name = new URL(database.url).pathname.slice(1);
  if (hasStatistics) await server.run("ANALYZE", name);
  await ask(async ({ inPostgres: { sql, params } }) => {
    const values = params
      .map((value) => (typeof value === "object" ? postgresMatchText(value) : String(value)))
      .map((value) => `'${value.replaceAll("'", "''")}'`)
      .values();
    const whole = sql.replaceAll("?", () => values.next().value ?? "");
    const rows = await server.run(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${whole}`, name);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
};

test.skipIf(noPostgresReason !== undefined)(
  "PostgreSQL searches words and labels only in the stretch of the log that fills the page",
  () =>
    withPlansOfMinutes(async (planOf) => {
      for (const order of ["asc", "desc"] as const) {
        for (const assetId of [undefined, base.asset_id]) {
          const planOfWord = (word: string): Promise<string> => {
            const filter = {
              assetId,
              order,
              text: { words: [word], prefixes: [] },
              timeField: "timestamp",
            } as const;
            return planOf(searchQuery("acme", filter, { after: undefined, rowsMax: 51 }));
          };
          expect(await planOfWord("credit")).toMatch(/Append[\s\S]*\(never executed\)/);
        }
      }
    }),
);

test.skipIf(noPostgresReason !== undefined)(
  "PostgreSQL fetches the matches of words and labels row by row, even before it has statistics",
  () =>
    withPlansOfMinutes(
      async (planOf) => {
        for (const order of ["asc", "desc"] as const) {
          for (const filter of [
            { text: { words: ["credit"], prefixes: [] } },
            { assetId: base.asset_id },
            { from: "2026-11-02T10:00:00Z", to: "2026-11-02T10:02:00Z" },
          ]) {
            const question = { ...filter, order, timeField: "timestamp" } as const;
            const plan = await planOf(searchQuery("acme", question, { after: undefined, rowsMax: 51 }));
            expect(plan).toMatch(/Index Cond: \(\(tenant = 'acme'::text\) AND \(sequence = /);
            expect(plan).not.toContain("Rows Removed by Join Filter");
          }
        }
      },
      { hasStatistics: false },
    ),
);
