import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { dueQuery } from "../../src/views/events/expiry.ts";
import { sqliteParameter } from "../../src/views/store/sqlite.ts";
import { expirySuite } from "../suites/expiry.ts";
import { caseExpirySuite } from "../suites/expiry-cases.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

expirySuite("SQLite", createSqliteDatabase);
caseExpirySuite("SQLite", createSqliteDatabase);

test("events that are due are read from their index, page by page, without other events", async () => {
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
