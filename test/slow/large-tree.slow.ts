import { createPostgresDatabase } from "../projections/postgres-database.ts";
import { createSqliteDatabase } from "../projections/sqlite-database.ts";
import { largeTreeSuite } from "../suites/tree.ts";
import { noPostgresReason } from "../support/postgres.ts";

largeTreeSuite("SQLite", createSqliteDatabase);
if (noPostgresReason === undefined) largeTreeSuite("PostgreSQL", createPostgresDatabase);
