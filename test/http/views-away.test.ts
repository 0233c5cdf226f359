/** While PostgreSQL is away, events are accepted, requests that need the views are told to retry, and readiness gives the reason. */
import { describe, expect, test } from "bun:test";
import { createPostgresViews } from "../../src/views/store/postgres.ts";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { checksOf } from "../support/diagnosis.ts";
import { noPostgresReason, startPostgres, testPostgres } from "../support/postgres.ts";
import { dataFolder, spawnService } from "../support/process.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const REASON = "The database of the views does not answer.";
const CLOSED =
  "The database of the views answers, but refuses the connection: check the login and database in DATABASE_URL, and its connection limit.";

describe.skipIf(noPostgresReason !== undefined)("on PostgreSQL", () => {
  test("a database that is away is not logged as our error: the answer is 503 with the reason, and everything is there when it is back", async () => {
    await using postgres = await startPostgres();
    await using database = await postgres.createDatabase();
    await using service = await startTestService({ DATABASE_URL: database.url });
    const { call } = service;
    expect((await call("/v1/events", { body: event({ event_id: "evt_1" }) })).status).toBe(202);
    expect((await call("/v1/events/evt_1?min_sequence=1")).status).toBe(200);

    await postgres.crash();
    for (const path of ["/health/ready", "/v1/events", "/v1/events/evt_1", "/v1/obligations"]) {
      const { status, json, headers } = await call(path);
      expect([path, status, json.code, json.reasons]).toEqual([path, 503, "not_ready", [REASON]]);
      expect([path, headers.get("retry-after")]).toEqual([path, "1"]);
      expect(json.detail).not.toContain("127.0.0.1");
    }
    expect((await call("/v1/events", { body: event({ event_id: "evt_2" }) })).status).toBe(202);
    const without = await call("/health/ready?without=views");
    expect([without.status, without.json.data.status]).toEqual([200, "ready"]);
    const resent = await call("/v1/events?resent=true", { body: event({ event_id: "evt_3" }) });
    expect([resent.status, resent.json.code]).toEqual([503, "not_ready"]);
    expect(service.lines.filter(({ message }) => message === "a request failed")).toEqual([]);

    await postgres.start();
    await until("it is ready again", async () => (await call("/health/ready")).status === 200);
    expect((await call("/v1/events/evt_2?min_sequence=2")).status).toBe(200);
    expect((await call("/v1/events/evt_3")).status).toBe(404);
  });

  test("a database that refuses the login, for example because its password was changed, is not reported as one that does not answer", async () => {
    const postgres = await testPostgres();
    await using database = await postgres.createDatabase();
    const role = `closed_${Math.random().toString(36).slice(2)}`;
    await database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT ALL ON SCHEMA public TO ${role}`);
    const { href } = Object.assign(new URL(database.url), { username: role, password: "p" });
    const { call, [Symbol.asyncDispose]: stop } = await startTestService({ DATABASE_URL: href });
    expect((await call("/v1/events")).status).toBe(200);
    await postgres.run(`ALTER ROLE ${role} PASSWORD 'other'`);
    await postgres.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    for (const path of ["/health/ready", "/v1/events"])
      await until(`${path} says why`, async () => {
        const { status, json } = await call(path);
        return status === 503 && json.reasons[0] === CLOSED;
      });
    expect((await call("/health/ready?without=views")).status).toBe(200);
    await postgres.run(`ALTER ROLE ${role} PASSWORD 'p'`);
    await until("it is ready again", async () => (await call("/health/ready")).status === 200);
    await stop();
    await database.run(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  test("for a database that refuses the user or a needed right, doctor says what to check", async () => {
    const postgres = await testPostgres();
    await using database = await postgres.createDatabase();
    await using store = createPostgresViews({ url: database.url });
    await store.open({ name: "notes", version: 1, tables: [] });
    const role = `stranger_${Math.random().toString(36).slice(2)}`;
    await postgres.run(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`);
    await using broker = await startTestBroker();
    const adviceFor = async (change: Partial<Pick<URL, "username" | "password" | "pathname">>) => {
      const { href } = Object.assign(new URL(database.url), change);
      const views = await checksOf("views", { ...settingsFor(broker), DATABASE_URL: href });
      return views.find(({ state }) => state === "failed")?.detail ?? "nothing failed";
    };
    const names = "names the database, its user and password";
    expect(await adviceFor({ pathname: "/nowhere" })).toContain(names);
    expect(await adviceFor({ password: "wrong" })).toContain(names);
    expect(await adviceFor({ username: role, password: "p" })).toMatch(/create tables there.+REASSIGN OWNED/);
    await postgres.run(`DROP ROLE ${role}`);
  });

  test("a signal ends the wait for a database at once", async () => {
    await using folder = await dataFolder();
    const environment = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
    await using service = await spawnService({ dataDir: folder.path, environment });
    await until("it says what it waits for", () => service.output.includes("waiting for the database"));
    expect(service.output).toContain("the database of DATABASE_URL cannot be opened: ");
    service.kill("SIGTERM");
    expect(await service.ended()).toBe(0);
  });
});
