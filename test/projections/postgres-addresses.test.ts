/** Ways to reach PostgreSQL: an IPv6 address, and PgBouncer in each of its modes. */
import { describe, expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { viewsRefused } from "../../src/service/view-database.ts";
import { createPostgresViews } from "../../src/views/store/postgres.ts";
import { createConnection } from "../../src/views/store/postgres-connection.ts";
import { TEXT } from "../../src/views/store/tables.ts";
import { isAway } from "../../src/views/store/unavailable.ts";
import { pgbouncerProgram, startPgbouncer } from "../support/pgbouncer.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";

const NOTES = {
  name: "notes",
  columns: { tenant: TEXT, key: TEXT },
  primaryKey: ["tenant", "key"],
  indexes: [],
} as const;
const VIEW = { name: "notes", version: 1, tables: [NOTES] };

const SETTINGS = [
  ["plan_cache_mode", "force_custom_plan"],
  ["lock_timeout", /^\d+s$/],
  ["statement_timeout", /^\d+s$/],
  ["idle_in_transaction_session_timeout", /^\d+s$/],
] as const;

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

/** Passes on what comes to ::1: the server of the tests listens on 127.0.0.1 alone. */
const overIpv6 = async (databaseUrl: string) => {
  const url = new URL(databaseUrl);
  const server = createServer((client) => {
    const further = connect(Number(url.port), "127.0.0.1");
    client.pipe(further).pipe(client);
    for (const socket of [client, further]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, "::1", done));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: databaseUrl.replace(/127\.0\.0\.1:\d+/, `[::1]:${port}`),
    port,
    [Symbol.dispose]: () => void server.close(),
  };
};

const pgbouncer = noPostgresReason === undefined ? await pgbouncerProgram() : undefined;

describe.skipIf(noPostgresReason !== undefined)("the database of the views", () => {
  test.skipIf(!hasIpv6)("can be named by an IPv6 address, alone and in a list", async () => {
    await using database = await (await testPostgres()).createDatabase();
    using far = await overIpv6(database.url);
    for (const url of [far.url, far.url.replace("[::1]", "127.0.0.1:1,[::1]")]) {
      await using store = createPostgresViews({ url });
      await store.open(VIEW);
      expect(await store.position("notes")).toBe(0);
    }
  });

  test("settings of a session can be overridden in its URL, and no other one changes", async () => {
    await using database = await (await testPostgres()).createDatabase();
    const connection = createConnection(`${database.url}?lock_timeout=1234&application_name=mine`);
    const shown = async (name: string) =>
      Object.values((await connection.run(`SHOW ${name}`)).rows[0] ?? {})[0];
    expect(await shown("lock_timeout")).toBe("1234ms");
    expect(await shown("application_name")).toBe("mine");
    for (const [name, value] of SETTINGS.filter(([name]) => name !== "lock_timeout"))
      expect(await shown(name)).toMatch(value);
    await connection.close();
  });

  describe.skipIf(pgbouncer?.kind !== "found")("behind PgBouncer", () => {
    test("works in session mode, with the settings of its sessions", async () => {
      await using database = await (await testPostgres()).createDatabase();
      await using pooler = await startPgbouncer(database.url, "session");
      {
        await using store = createPostgresViews({ url: pooler.url });
        await store.open(VIEW);
        const row = { tenant: "acme", key: "a" };
        const commit = { views: [VIEW], from: 0, to: 1, deadLetters: [] };
        await store.commit({ ...commit, writes: [{ kind: "insert", table: NOTES, row }] });
        expect(await store.position("notes")).toBe(1);
      }
      const connection = createConnection(pooler.url);
      for (const [name, value] of SETTINGS) {
        const { rows } = await connection.run(`SHOW ${name}`);
        expect(rows[0]?.[name]).toMatch(value);
      }
      await connection.close();
    });

    test.each(["transaction", "statement"] as const)(
      "is refused in %s mode, at once and with what to do",
      async (mode) => {
        await using database = await (await testPostgres()).createDatabase();
        await using pooler = await startPgbouncer(database.url, mode);
        for (let times = 0; times < 5; times++) {
          await using store = createPostgresViews({ url: pooler.url });
          const error: unknown = await store.open(VIEW).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          // A start waits for a database that is away.
          expect(isAway(error)).toBe(false);
          expect(String(viewsRefused(error, { databaseUrl: pooler.url, dataDir: "./data" }))).toContain(
            "use pool_mode session, or the address of PostgreSQL itself",
          );
        }
      },
    );
  });
});
