import { createPostgresDatabase } from "../projections/postgres-database.ts";
import { viewCareSuite } from "../suites/view-care.ts";
import { noPostgresReason } from "../support/postgres.ts";

if (noPostgresReason === undefined) viewCareSuite("PostgreSQL", createPostgresDatabase);
