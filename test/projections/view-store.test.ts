import { viewStoreSuite } from "../suites/view-store.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

viewStoreSuite("SQLite", createSqliteDatabase);
