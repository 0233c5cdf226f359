import { describe } from "bun:test";
import { listsSuite } from "../suites/lists.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";

describe.skipIf(noPostgresReason !== undefined)("on PostgreSQL", () => {
  listsSuite(
    async () => {
      const { url } = await (await testPostgres()).createDatabase();
      return { DATABASE_URL: url };
    },
    { isWhole: false },
  );
});
