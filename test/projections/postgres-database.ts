/** An empty PostgreSQL database, dropped at the end. */
import { createPostgresViews } from "../../src/views/postgres.ts";
import type { ViewDatabase } from "../suites/view-store.ts";
import { testPostgres } from "../support/postgres.ts";

export const createPostgresDatabase = async (): Promise<ViewDatabase> => {
  const database = await (await testPostgres()).createDatabase();
  return {
    connect: () => createPostgresViews({ url: database.url }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
};
