import { test } from "bun:test";
import { coverageSuite } from "../suites/coverage.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

coverageSuite("SQLite", createSqliteDatabase);
if (noPostgresReason === undefined) coverageSuite("PostgreSQL", createPostgresDatabase);
else test.skip(`coverage in PostgreSQL: ${noPostgresReason}`, () => undefined);
