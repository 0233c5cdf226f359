/** While PostgreSQL is emptied, locked, read-only, or lost on the network. Where it is away: test/http/views-away.test.ts. */
import { describe, expect, test } from "bun:test";
import { createPostgresViews } from "../../src/views/store/postgres.ts";
import { createConnection } from "../../src/views/store/postgres-connection.ts";
import { settingsFor, startTestBroker, testBrokerBinary } from "../support/broker.ts";
import { runCli } from "../support/cli.ts";
import { checksOf } from "../support/diagnosis.ts";
import { noPostgresReason, startPostgres, testPostgres } from "../support/postgres.ts";
import { dataFolder, type ServiceProcess, spawnService } from "../support/process.ts";
import { startProxy } from "../support/proxy.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const EMPTIED =
  "The database of the views answers, but tables are missing or belong to another version: it was emptied or restored empty, or another version of Prooftrail rebuilt it. Restart the service to rebuild them from the log.";
const BUSY = "The database of the views answers, but cannot do this now.";

const untilItWaits = (service: ServiceProcess): Promise<unknown> =>
  until("it says what it waits for", () => {
    if (service.exitCode !== null) throw new Error(service.errors);
    return service.output.includes("waiting for the database of the views");
  });

describe.skipIf(noPostgresReason !== undefined)("on PostgreSQL", () => {
  test("an emptied database is not logged as our error either, and everything is there after another start", async () => {
    const postgres = await testPostgres();
    await using database = await postgres.createDatabase();
    await using folder = await dataFolder();
    const environment = { DATABASE_URL: database.url, DATA_DIR: folder.path };
    {
      await using service = await startTestService(environment);
      const { call } = service;
      expect((await call("/v1/events", { body: event({ event_id: "evt_1" }) })).status).toBe(202);
      expect((await call("/v1/events/evt_1?min_sequence=1")).status).toBe(200);
      await postgres.run(
        "DROP SCHEMA public CASCADE; CREATE SCHEMA public",
        new URL(database.url).pathname.slice(1),
      );
      for (const path of ["/health/ready", "/v1/events", "/v1/events/evt_1", "/v1/obligations"]) {
        const { status, json } = await call(path);
        expect([path, status, json.code, json.reasons]).toEqual([path, 503, "not_ready", [EMPTIED]]);
      }
      expect((await call("/v1/events", { body: event({ event_id: "evt_2" }) })).status).toBe(202);
      expect(service.lines.filter(({ message }) => message === "a request failed")).toEqual([]);
      await until("the line of the projector tells the same", () =>
        service.lines.some(
          ({ message, detail }) => message.startsWith("projecting stopped") && detail?.includes(EMPTIED),
        ),
      );
      const views = await checksOf("views", { ...environment, NATS_SERVER_BIN: await testBrokerBinary() });
      expect(views).toMatchObject([{ state: "failed", detail: expect.stringContaining("emptied") }]);
      expect((await call("/health/ready")).json.reasons).toEqual([EMPTIED]);
      // A process of another version has opened it; the rows of these views are still missing.
      await using other = createPostgresViews({ url: database.url });
      await other.open({ name: "others", version: 1, tables: [] });
      const { json } = await call("/health/ready");
      expect(json.reasons).toEqual([expect.stringContaining("Missing: events, ")]);
      expect(json.reasons[0]).toContain(EMPTIED);
    }
    await using service = await startTestService(environment);
    for (const id of ["evt_1", "evt_2"])
      expect([id, (await service.call(`/v1/events/${id}?min_sequence=2`)).status]).toEqual([id, 200]);
  });

  test("a start waits for a database that is away, reports this, and serves when it is back", async () => {
    await using postgres = await startPostgres();
    await using database = await postgres.createDatabase();
    await postgres.crash();
    await using folder = await dataFolder();
    const environment = { DATABASE_URL: database.url, ROLES: "api" };
    await using service = await spawnService({ dataDir: folder.path, environment });
    await untilItWaits(service);
    expect(service.output).toContain("ECONNREFUSED");
    await postgres.start();
    await until("it serves", () => service.url !== "");
    expect((await service.call("/v1/events")).status).toBe(200);
  });

  test("a start waits for a database that accepts no writes, such as one that is about to become primary", async () => {
    const postgres = await testPostgres();
    await using database = await postgres.createDatabase();
    const name = new URL(database.url).pathname.slice(1);
    await postgres.run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await using folder = await dataFolder();
    const environment = { DATABASE_URL: database.url, ROLES: "api" };
    await using service = await spawnService({ dataDir: folder.path, environment });
    await untilItWaits(service);
    expect(service.output).toContain("read-only transaction");
    await postgres.run(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await until("it serves", () => service.url !== "");
    expect((await service.call("/v1/events")).status).toBe(200);
  });

  test("a table that another session locks, for example to rewrite it, is not logged as our error", async () => {
    const postgres = await testPostgres();
    await using database = await postgres.createDatabase();
    await using service = await startTestService({ DATABASE_URL: `${database.url}?lock_timeout=50` });
    const { call } = service;
    expect((await call("/v1/events", { body: event() })).status).toBe(202);
    expect((await call("/v1/events/evt_1?min_sequence=1")).status).toBe(200);
    const holder = createConnection(database.url);
    const path = "/v1/events";
    await holder.transaction(async (run) => {
      await run("SET LOCAL idle_in_transaction_session_timeout = 0");
      await run("LOCK TABLE events IN ACCESS EXCLUSIVE MODE");
      const { status, json } = await call(path);
      expect([status, json.code, json.reasons]).toEqual([503, "not_ready", [BUSY]]);
      return { result: undefined, keep: false };
    });
    await holder.close();
    expect((await call(path)).status).toBe(200);
    expect(service.lines.filter(({ message }) => message === "a request failed")).toEqual([]);
  });

  test("`views` commands report this too, as something to retry", async () => {
    const postgres = await testPostgres();
    await using database = await postgres.createDatabase();
    await using broker = await startTestBroker();
    const shared = { ...settingsFor(broker), ROLES: "api" };
    await using _service = await startTestService({ ...shared, DATABASE_URL: database.url });
    const holder = createConnection(database.url);
    // The query after the positions, which say that the database is there.
    const told = await holder.transaction(async (run) => {
      await run("SET LOCAL idle_in_transaction_session_timeout = 0");
      await run("LOCK TABLE dead_letters IN ACCESS EXCLUSIVE MODE");
      const environment = { NATS_URL: shared.NATS_URL, DATABASE_URL: `${database.url}?lock_timeout=50` };
      for (const { state, detail } of await checksOf("views", environment))
        expect([state, detail]).toEqual(["failed", expect.stringContaining("nobody locks its tables")]);
      return { result: await runCli(["views", "status"], { environment }), keep: false };
    });
    await holder.close();
    expect([told.code, told.out]).toEqual([3, ""]);
    expect(told.err).toContain("DATABASE_URL: canceling statement due to lock timeout.");
    expect(told.err).not.toContain(".ts:");
  });

  test("a database that is lost on the network does not delay readiness without views", async () => {
    const postgres = await testPostgres();
    await using database = await postgres.createDatabase();
    const { port, pathname, username, password } = new URL(database.url);
    using proxy = await startProxy(Number(port));
    const url = `postgres://${username}:${password}@127.0.0.1:${proxy.port}${pathname}`;
    await using service = await startTestService({ DATABASE_URL: url });
    await until("it is ready", async () => (await service.call("/health/ready")).status === 200);
    proxy.mute();
    const settled: string[] = [];
    const whole = service.call("/health/ready").then(() => settled.push("whole"));
    const without = await service.call("/health/ready?without=views");
    expect([without.status, settled]).toEqual([200, []]);
    proxy.unmute();
    proxy.cut();
    await whole;
  });
});
