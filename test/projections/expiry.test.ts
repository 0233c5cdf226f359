import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { eventsProjection } from "../../src/projections/events/evolve.ts";
import { dueQuery } from "../../src/projections/events/expiry.ts";
import { sqliteParameter } from "../../src/views/sqlite.ts";
import { expirySuite } from "../suites/expiry.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

expirySuite("SQLite", createSqliteDatabase);
if (noPostgresReason === undefined) expirySuite("PostgreSQL", createPostgresDatabase);
else test.skip(`expiry in PostgreSQL: ${noPostgresReason}`, () => undefined);

test("what is due is read from its index, page by page, without what is not", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  await views.open(eventsProjection);
  using sqlite = new DatabaseSync(database.path, { readOnly: true });
  const parts = {
    tenant: "acme",
    kept: { tier: "high", floor: undefined },
    before: "2026-01-01",
    rowsMax: 10,
  } as const;
  for (const after of [undefined, { counted_from: "2025-01-01", sequence: 7 }]) {
    const { sql, params } = dueQuery({ ...parts, after });
    const plan = sqlite
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...params.map(sqliteParameter))
      .map(({ detail }) => String(detail));
    expect(plan).toHaveLength(1);
    expect(plan[0]).toContain("events_by_tenant_retention_class_counted_from_sequence");
    expect(plan[0]).toContain("tenant=? AND retention_class=? AND ");
    expect(plan[0]).toContain("counted_from");
  }
});
