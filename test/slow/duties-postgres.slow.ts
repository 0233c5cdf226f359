import { test } from "bun:test";
import { createPostgresDatabase } from "../projections/postgres-database.ts";
import { dutiesSuite } from "../suites/duties.ts";
import { noPostgresReason } from "../support/postgres.ts";

if (noPostgresReason === undefined) dutiesSuite("PostgreSQL", createPostgresDatabase);
else test.skip(`duties in PostgreSQL: ${noPostgresReason}`, () => undefined);
