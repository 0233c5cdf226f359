import { viewCareSuite } from "../suites/view-care.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

viewCareSuite("SQLite", createSqliteDatabase);
