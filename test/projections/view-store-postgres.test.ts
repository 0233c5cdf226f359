import { describe, expect, test } from "bun:test";
import postgres from "postgres";
import { VIEW_WRITER_SILENT_MS_MAX } from "../../src/limits.ts";
import { viewsRefused } from "../../src/service/view-database.ts";
import { createPostgresViews } from "../../src/views/store/postgres.ts";
import { createConnection } from "../../src/views/store/postgres-connection.ts";
import { type Row, type Table, TEXT } from "../../src/views/store/tables.ts";
import { ViewsUnavailableError } from "../../src/views/store/unavailable.ts";
import type { ViewCommit, ViewDefinition, Write } from "../../src/views/store/view-store.ts";
import { textIndexSuite } from "../suites/text-index.ts";
import { viewStoreSuite } from "../suites/view-store.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";
import { createPostgresDatabase } from "./postgres-database.ts";

const NOTES = {
  name: "notes",
  columns: { tenant: TEXT, key: TEXT, note: TEXT },
  primaryKey: ["tenant", "key"],
  indexes: [],
} as const satisfies Table;
const VIEW = { name: "notes", version: 1, tables: [NOTES] };
const SECRET = "what-a-customer-sent";

const note = (key: string): Row => ({ tenant: "acme", key, note: SECRET });
const insert = (row: Row): Write => ({ kind: "insert", table: NOTES, row });
const commitOf = (from: number, to: number, writes: readonly Write[]): ViewCommit => ({
  views: [VIEW],
  from,
  to,
  writes,
  deadLetters: [],
});

const rejection = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Error);
  return Bun.inspect(error, { depth: 10 }) + JSON.stringify(error, Object.getOwnPropertyNames(error));
};

const setUp = async () => {
  const database = await (await testPostgres()).createDatabase();
  const store = createPostgresViews({ url: database.url });
  await store.open(VIEW);
  return {
    store,
    url: database.url,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
};

const ownTests = (): void => {
  /**
   * 1. The session knows the statements of a commit: the first commit succeeds.
   * 2. Another session locks the table, so that a commit waits between its first statement and its last.
   * 3. The server ends the connection of that commit: the commit rejects, and nothing of it is stored.
   * 4. The same commit succeeds the second time.
   */
  test("a commit whose connection breaks leaves nothing and can be repeated", async () => {
    await using at = await setUp();
    const { store } = at;
    await store.commit(commitOf(0, 1, [insert(note("before"))]));
    const other = postgres(at.url, { max: 1, onnotice: () => undefined });
    await other.unsafe("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE");
    const commit = commitOf(1, 2, [insert(note("a"))]);
    const broken = rejection(store.commit(commit));
    await until("the commit waits for the table", async () => {
      const waiting = await other.unsafe(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
      );
      return waiting.length === 1;
    });
    expect(await broken).not.toContain(SECRET);
    await other.unsafe("ROLLBACK");
    await other.end();
    expect(await store.position("notes")).toBe(1);
    expect(await store.load(NOTES, [{ tenant: "acme", key: "a" }])).toEqual([]);
    expect(await store.commit(commit)).toEqual({ kind: "committed" });
    expect(await store.load(NOTES, [{ tenant: "acme", key: "a" }])).toEqual([note("a")]);
  });

  test("a row that is too large for an index is refused for good, and not tried again forever", async () => {
    await using at = await setUp();
    // Random, because PostgreSQL compresses repetitions.
    const key = Array.from({ length: 4000 }, () => String.fromCharCode(33 + Math.random() * 90)).join("");
    const result = await at.store.commit(commitOf(0, 1, [insert(note(key))]));
    expect(result).toMatchObject({ kind: "unwritable", detail: expect.stringContaining("notes_pkey") });
  });

  test("the error about a refused row names its table and contains nothing that a customer sent", async () => {
    await using at = await setUp();
    const twice = commitOf(0, 1, [insert(note(SECRET)), insert(note(SECRET))]);
    const result = await at.store.commit(twice);
    expect(result).toMatchObject({ kind: "unwritable", detail: expect.stringContaining("notes_pkey") });
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  test("an error contains neither values nor the password", async () => {
    await using at = await setUp();
    const missing = { ...NOTES, name: "missing" };
    const read = await rejection(at.store.load(missing, [{ tenant: "acme", key: SECRET }]));
    expect(read).toContain("missing");
    const written = { kind: "insert", table: missing, row: note("a") } as const;
    const texts = [read, await rejection(at.store.commit(commitOf(0, 1, [written])))];
    for (const url of [at.url.replace(/:(\w+)@/, `:${SECRET}@`), `postgres://x:${SECRET}@[nowhere/x`]) {
      await using store = createPostgresViews({ url });
      texts.push(await rejection(store.position("notes")));
    }
    for (const text of texts) expect(text).not.toContain(SECRET);
  });

  test("a database whose encoding cannot hold every text is refused", async () => {
    await using database = await (await testPostgres()).createDatabase({ encoding: "LATIN1" });
    await using store = createPostgresViews({ url: database.url });
    expect(await rejection(store.open(VIEW))).toContain("UTF8");
  });

  test("if the user may not make tables, the error says what would allow it", async () => {
    const server = await testPostgres();
    await using database = await server.createDatabase();
    await server.run("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'r'");
    const url = new URL(database.url);
    [url.username, url.password] = ["reader", "r"];
    await using store = createPostgresViews({ url: url.href });
    const refused = await store
      .open(VIEW)
      .catch((error: unknown) => viewsRefused(error, { databaseUrl: url.href, dataDir: "./data" }));
    expect(String(refused)).toMatch(/permission denied for schema public\. .*own the database.*REASSIGN/);
  });

  test("reads continue on existing connections if the server accepts no further one", async () => {
    await using at = await setUp();
    const { run } = await testPostgres();
    const role = `limited_${Math.random().toString(36).slice(2)}`;
    await run(`CREATE ROLE ${role} LOGIN PASSWORD 'p' IN ROLE pg_read_all_data, pg_write_all_data`);
    const url = new URL(at.url);
    [url.username, url.password] = [role, "p"];
    {
      await using store = createPostgresViews({ url: url.href });
      const connections = async () => {
        const sql = `SELECT pid FROM pg_stat_activity WHERE usename = '${role}' ORDER BY backend_start`;
        return (await run(sql)).map(({ pid }) => Number(pid));
      };
      // One for the writer, and one that reads.
      await store.open(VIEW);
      await store.position("notes");
      const [, first] = await connections();
      await Promise.all([store.position("notes"), store.position("notes")]);
      expect(await connections()).toHaveLength(3);
      await run(`ALTER ROLE ${role} CONNECTION LIMIT 2`);
      await run(`SELECT pg_terminate_backend(${first}, 10000)`);
      const reads = () =>
        store.position("notes").then(
          () => true,
          () => false,
        );
      await until("the other one reads", reads);
      expect([await reads(), await reads(), await reads()]).toEqual([true, true, true]);
    }
    await run(`DROP ROLE ${role}`);
  });

  test("a rebuilt view replaces one that is searched all the time, and neither waits for the other's lock", async () => {
    await using at = await setUp();
    const searched = (ending: string): ViewDefinition => ({
      ...VIEW,
      name: `searched${ending}`,
      tables: [{ ...NOTES, name: `searched${ending}` }],
      textIndexes: [{ name: `searched_words${ending}` }],
    });
    const [view, by] = [searched(""), searched("__g1")];
    for (const each of [view, by]) await at.store.open(each);
    const [searcher, looker] = [createConnection(at.url), createConnection(at.url)];
    const isWaitedFor = async (): Promise<boolean> =>
      (await looker.run("SELECT pid FROM pg_locks WHERE NOT granted")).rows.length > 0;
    const replaceDuringSearch = async (): Promise<string> => {
      let replaced: string | undefined;
      const replacing = await searcher.transaction(async (run) => {
        // The tables of a search in their order (tenant-query.ts); the server locks one after another.
        await run("SELECT 1 FROM searched_words");
        const outcome = at.store.replace({ view, by, lagMax: 0 }).then((kind) => {
          replaced = kind;
          return kind;
        });
        await until("it waits for the search", async () => replaced !== undefined || (await isWaitedFor()));
        await run("SELECT 1 FROM searched");
        return { result: { outcome }, keep: true };
      });
      return replacing.outcome;
    };
    // It waits for a fifth of a second, which may be too short on a busy machine.
    await until("it has taken the place", async () => (await replaceDuringSearch()) === "replaced");
    for (const connection of [searcher, looker]) await connection.close();
  });

  test("calls that wait for a database that does not answer can be given up, even a snapshot", async () => {
    await using at = await setUp();
    using proxy = await startProxy(Number(new URL(at.url).port));
    const url = new URL(at.url);
    url.port = String(proxy.port);
    await using store = createPostgresViews({ url: url.href });
    await store.open(VIEW);
    const asked: Promise<string>[] = [];
    asked.push(
      rejection(
        store.snapshot(VIEW, async ({ load }) => {
          proxy.mute();
          asked.push(rejection(store.position("notes")), rejection(store.commit(commitOf(0, 1, []))));
          const loaded = load(NOTES, [{ tenant: "acme", key: "k" }]);
          store.giveUp();
          return loaded;
        }),
      ),
    );
    await until("it is looked at", () => asked.length === 3);
    for (const each of asked) expect(await each).toContain("the connection to the database was lost");
    expect(await rejection(store.snapshot(VIEW, async () => 1))).toContain("lost");
  });

  test("reading makes nothing in a database in which nobody has opened views", async () => {
    const { createDatabase, run } = await testPostgres();
    await using database = await createDatabase();
    await using store = createPostgresViews({ url: database.url });
    expect(await store.names()).toEqual([]);
    expect(await store.position("notes")).toBe(0);
    expect(await store.deadLetters("notes", 0, 10)).toEqual([]);
    const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
    expect(await run(tables, new URL(database.url).pathname.slice(1))).toHaveLength(0);
  });

  test("an error that may pass is distinguished from one that will not", async () => {
    await using at = await setUp();
    const connection = createConnection(at.url);
    const failing = (sqlState: string) =>
      connection
        .run(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${sqlState}'; END $$`)
        .catch((error: unknown) => error);
    // Its server's time limit or operator, a lock, a deadlock, a standby that replays, a server that takes no writes; errors that end a connection.
    const passing = ["57014", "55P03", "40P01", "40001", "25006", "57P04", "57P05", "25P03", "25P04"];
    for (const sqlState of passing)
      expect([sqlState, (await failing(sqlState)) instanceof ViewsUnavailableError]).toEqual([
        sqlState,
        true,
      ]);
    for (const sqlState of ["XX001", "22012", "42501"])
      expect([sqlState, (await failing(sqlState)) instanceof ViewsUnavailableError]).toEqual([
        sqlState,
        false,
      ]);
    await connection.close();
  });

  test("a writer that disappears in the middle of a commit delays nobody for 5 s", async () => {
    await using at = await setUp();
    await at.store.commit(commitOf(0, 1, [insert(note("a"))]));
    const gone = createConnection(at.url);
    const [holds, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // A commit holds this lock; then that machine sends nothing any more, and nothing says that it is gone.
    const held = gone.transaction(async (run) => {
      await run("SELECT name FROM views WHERE name = 'notes' FOR UPDATE");
      holds.resolve();
      await ends.promise;
      return { result: undefined, keep: true };
    });
    await holds.promise;
    expect(await at.store.commit(commitOf(1, 2, [insert(note("b"))]))).toEqual({ kind: "committed" });
    expect(VIEW_WRITER_SILENT_MS_MAX).toBeLessThan(5000);
    ends.resolve();
    await rejection(held);
    await gone.close();
  });
};

if (noPostgresReason === undefined) {
  viewStoreSuite("PostgreSQL", createPostgresDatabase);
  textIndexSuite("PostgreSQL", createPostgresDatabase);
  describe("PostgreSQL", ownTests);
} else {
  test.skip(`views in PostgreSQL: ${noPostgresReason}`, () => undefined);
}
