import { viewRacesSuite } from "../suites/view-races.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

viewRacesSuite("SQLite", createSqliteDatabase);
if (noPostgresReason === undefined) viewRacesSuite("PostgreSQL", createPostgresDatabase);
