import { test } from "bun:test";
import { viewStoreSuite } from "../suites/view-store.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";

if (noPostgresReason === undefined) viewStoreSuite("PostgreSQL", createPostgresDatabase);
else test.skip(`views in PostgreSQL: ${noPostgresReason}`, () => undefined);
