import { expect, test } from "bun:test";
import { ViewsUnavailableError } from "../views/store/unavailable.ts";
import { viewsRefused } from "./view-database.ts";

test("the error for a database that cannot be opened at the start says what to check", () => {
  const place = { databaseUrl: "postgres://user:hunter2@host/db", dataDir: "data" };
  const { message } = viewsRefused(new ViewsUnavailableError('database "db" does not exist'), place);
  expect(message).toContain(
    'DATABASE_URL cannot be opened: database "db" does not exist. Check that DATABASE_URL names',
  );
  expect(message).not.toContain("hunter2");
});
