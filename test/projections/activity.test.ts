import { test } from "bun:test";
import { activitySuite } from "../suites/activity.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

activitySuite("SQLite", createSqliteDatabase);
if (noPostgresReason === undefined) activitySuite("PostgreSQL", createPostgresDatabase);
else test.skip(`activity in PostgreSQL: ${noPostgresReason}`, () => undefined);
