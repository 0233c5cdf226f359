import { test } from "bun:test";
import { treeSuite } from "../suites/tree.ts";
import { noPostgresReason } from "../support/postgres.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

treeSuite("SQLite", createSqliteDatabase);

if (noPostgresReason === undefined) treeSuite("PostgreSQL", createPostgresDatabase);
else test.skip(`the tree in PostgreSQL: ${noPostgresReason}`, () => undefined);
