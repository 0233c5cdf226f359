import { dutiesSuite } from "../suites/duties.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

dutiesSuite("SQLite", createSqliteDatabase);
