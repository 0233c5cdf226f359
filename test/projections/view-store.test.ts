import { textIndexSuite } from "../suites/text-index.ts";
import { viewStoreSuite } from "../suites/view-store.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

viewStoreSuite("SQLite", createSqliteDatabase);
textIndexSuite("SQLite", createSqliteDatabase);
