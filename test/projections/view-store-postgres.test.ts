import { describe, expect, test } from "bun:test";
import postgres from "postgres";
import { VIEW_WRITER_SILENT_MS_MAX } from "../../src/limits.ts";
import { PROJECTIONS } from "../../src/projections/registry.ts";
import { createPostgresViews } from "../../src/views/postgres.ts";
import { createConnection } from "../../src/views/postgres-connection.ts";
import { type Row, type Table, TEXT } from "../../src/views/tables.ts";
import type { ViewCommit, ViewStore, Write } from "../../src/views/view-store.ts";
import { textIndexSuite } from "../suites/text-index.ts";
import { viewStoreSuite } from "../suites/view-store.ts";
import { noPostgresReason, startPostgres, testPostgres } from "../support/postgres.ts";
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
   * 1. Another session holds the table, so that a commit stands still between its first statement and its last.
   * 2. The server ends the connection of that commit: the commit rejects, and nothing of it is there.
   * 3. The same commit again is made.
   */
  test("a commit whose connection breaks leaves nothing and can be made again", async () => {
    await using at = await setUp();
    const { store } = at;
    const other = postgres(at.url, { max: 1, onnotice: () => undefined });
    await other.unsafe("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE");
    const commit = commitOf(0, 1, [insert(note("a"))]);
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
    expect(await store.position("notes")).toBe(0);
    expect(await store.load(NOTES, [{ tenant: "acme", key: "a" }])).toEqual([]);
    expect(await store.commit(commit)).toEqual({ kind: "committed" });
    expect(await store.load(NOTES, [{ tenant: "acme", key: "a" }])).toEqual([note("a")]);
  });

  test("while the server is away calls reject, and they work when it is back", async () => {
    await using server = await startPostgres();
    await using database = await server.createDatabase();
    await using store = createPostgresViews({ url: database.url });
    await store.open(VIEW);
    await store.commit(commitOf(0, 1, [insert(note("a"))]));
    const calls: ((store: ViewStore) => Promise<unknown>)[] = [
      ({ position }) => position("notes"),
      ({ load }) => load(NOTES, [{ tenant: "acme", key: "a" }]),
      ({ commit }) => commit(commitOf(1, 2, [insert(note("b"))])),
      ({ open }) => open(VIEW),
    ];
    await server.crash();
    await using late = createPostgresViews({ url: database.url });
    for (const call of calls) {
      for (const each of [store, late]) await rejection(call(each));
    }
    await server.start();
    for (const call of calls) await call(store);
    expect(await store.position("notes")).toBe(2);
    expect(await late.open(VIEW)).toBe("kept");
  });

  test("a row that is too large for an index is refused for good, not tried again for ever", async () => {
    await using at = await setUp();
    // Random, because PostgreSQL compresses what repeats.
    const key = Array.from({ length: 4000 }, () => String.fromCharCode(33 + Math.random() * 90)).join("");
    const result = await at.store.commit(commitOf(0, 1, [insert(note(key))]));
    expect(result).toMatchObject({ kind: "unwritable", detail: expect.stringContaining("notes_pkey") });
  });

  test("what is said of a refused row names its table and holds nothing that a customer sent", async () => {
    await using at = await setUp();
    const twice = commitOf(0, 1, [insert(note(SECRET)), insert(note(SECRET))]);
    const result = await at.store.commit(twice);
    expect(result).toMatchObject({ kind: "unwritable", detail: expect.stringContaining("notes_pkey") });
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  test("an error holds neither values nor the password", async () => {
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

  test("the tables of every projection can be made, dropped and made again", async () => {
    await using at = await setUp();
    for (const view of PROJECTIONS) {
      expect(await at.store.open(view)).toBe("made");
      expect(await at.store.open({ ...view, version: view.version + 1 })).toBe("made_again");
    }
  });

  test("a database that cannot hold every text is refused", async () => {
    await using database = await (await testPostgres()).createDatabase({ encoding: "LATIN1" });
    await using store = createPostgresViews({ url: database.url });
    expect(await rejection(store.open(VIEW))).toContain("UTF8");
  });

  test("stores that open an empty database at once do not get in each other's way", async () => {
    await using database = await (await testPostgres()).createDatabase();
    const stores = Array.from({ length: 5 }, () => createPostgresViews({ url: database.url }));
    const opened = await Promise.all(stores.map((store) => store.open(VIEW)));
    expect(opened.toSorted()).toEqual(["kept", "kept", "kept", "kept", "made"]);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("a writer that is gone in the middle of a commit holds nobody up for 5 s", async () => {
    await using at = await setUp();
    await at.store.commit(commitOf(0, 1, [insert(note("a"))]));
    const gone = createConnection(at.url);
    const [holds, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // The lock that a commit has; then nothing comes from that machine any more, and nothing says that it is gone.
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

  test("after closing, calls reject", async () => {
    await using at = await setUp();
    await at.store.close();
    expect(await rejection(at.store.position("notes"))).toContain("closed");
    await at.store.close();
  });
};

if (noPostgresReason === undefined) {
  viewStoreSuite("PostgreSQL", createPostgresDatabase);
  textIndexSuite("PostgreSQL", createPostgresDatabase);
  describe("PostgreSQL", ownTests);
} else {
  test.skip(`views in PostgreSQL: ${noPostgresReason}`, () => undefined);
}
