import { viewCareSuite } from "../suites/view-care.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";

if (noPostgresReason === undefined) viewCareSuite("PostgreSQL", createPostgresDatabase);
