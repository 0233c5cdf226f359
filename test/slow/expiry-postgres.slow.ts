import { test } from "bun:test";
import { createPostgresDatabase } from "../projections/postgres-database.ts";
import { expirySuite } from "../suites/expiry.ts";
import { caseExpirySuite } from "../suites/expiry-cases.ts";
import { noPostgresReason } from "../support/postgres.ts";

if (noPostgresReason === undefined) {
  expirySuite("PostgreSQL", createPostgresDatabase);
  caseExpirySuite("PostgreSQL", createPostgresDatabase);
} else test.skip(`expiry in PostgreSQL: ${noPostgresReason}`, () => undefined);
