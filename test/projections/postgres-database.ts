/** An empty PostgreSQL database, emptied again at the end. */
import { createPostgresViews } from "../../src/views/store/postgres.ts";
import type { ViewDefinition } from "../../src/views/store/view-store.ts";
import type { CreateDatabase, ViewDatabase } from "../suites/view-store.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

export const createPostgresDatabase: CreateDatabase = async (opened) => {
  if (opened !== undefined) return takeOpened(opened);
  const database = await (await testPostgres()).createDatabase();
  return {
    connect: () => createPostgresViews({ url: database.url }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
};

/** A database in which views are open. */
interface OpenedDatabase {
  readonly database: TestDatabase;
  readonly tables: readonly number[];
  /** The parts that no row changes, except those of its views. */
  readonly shape: string;
}

const unused = new WeakMap<readonly ViewDefinition[], OpenedDatabase[]>();

/**
 * Its tables stay for the next test that asks for these views: making and dropping those of the seven views of most tests takes 0.12 s of CPU, and emptying
 * them 0.03 (measured).
 */
const takeOpened = async (views: readonly ViewDefinition[]): Promise<ViewDatabase> => {
  const kept = unused.get(views) ?? [];
  unused.set(views, kept);
  const opened = kept.pop() ?? (await makeOpened(views));
  const { database } = opened;
  return {
    connect: () => createPostgresViews({ url: database.url }),
    [Symbol.asyncDispose]: async () => {
      await database.run(emptyBut(opened.tables));
      // The tables of views that were replaced or rebuilt are different ones.
      if ((await shapeOf(database)) === opened.shape) kept.push(opened);
      else await database[Symbol.asyncDispose]();
    },
  };
};

const makeOpened = async (views: readonly ViewDefinition[]): Promise<OpenedDatabase> => {
  const database = await (await testPostgres()).createDatabase();
  await using store = createPostgresViews({ url: database.url });
  for (const view of views) await store.open(view);
  const tables = (await database.run(TABLES)).map(({ oid }) => Number(oid));
  return { database, tables, shape: await shapeOf(database) };
};

const OURS = "relnamespace = 'public'::regnamespace";

const TABLES = `SELECT oid::int FROM pg_class WHERE relkind = 'r' AND ${OURS}`;

const shapeOf = async (database: TestDatabase): Promise<string> =>
  JSON.stringify(
    await database.run(`
      SELECT relname AS name, oid::text AS made FROM pg_class WHERE ${OURS}
      UNION ALL SELECT name, views::text FROM views
      ORDER BY name, made
    `),
  );

/** Closes all other connections, drops other views and their tables, and deletes all rows of these. */
const emptyBut = (tables: readonly number[]): string => `
  SELECT pg_terminate_backend(pid, 10_000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();
  DO $$
  DECLARE named text;
  BEGIN
    SELECT string_agg(quote_ident(relname), ', ') INTO named FROM pg_class
      WHERE relkind = 'r' AND ${OURS} AND oid NOT IN (${tables.join(", ")});
    IF named IS NOT NULL THEN EXECUTE 'DROP TABLE ' || named; END IF;
    SELECT string_agg(quote_ident(relname), ', ') INTO named FROM pg_class
      WHERE relkind = 'r' AND ${OURS} AND relname <> 'views' AND pg_relation_size(oid) > 0;
    IF named IS NOT NULL THEN EXECUTE 'TRUNCATE ' || named; END IF;
  END $$;
  DELETE FROM views
    WHERE EXISTS (SELECT FROM json_array_elements_text(tables::json) AS made (name) WHERE to_regclass(made.name) IS NULL);
  UPDATE views SET position = 0 WHERE position > 0;
`;
