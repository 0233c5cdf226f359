import { describe } from "bun:test";
import { registersSuite } from "../suites/registers.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";

describe.skipIf(noPostgresReason !== undefined)("on PostgreSQL", () => {
  registersSuite(async () => {
    const { url } = await (await testPostgres()).createDatabase();
    return { DATABASE_URL: url };
  });
});
