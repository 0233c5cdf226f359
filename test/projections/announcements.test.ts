import { test } from "bun:test";
import { dutiesSuite } from "../suites/duties.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

dutiesSuite("SQLite", createSqliteDatabase);

if (noPostgresReason === undefined) dutiesSuite("PostgreSQL", createPostgresDatabase);
else test.skip(`duties in PostgreSQL: ${noPostgresReason}`, () => undefined);
