/** While PostgreSQL is away: events are taken, what needs the views is told to ask again, and readiness says why. */
import { describe, expect, test } from "bun:test";
import { noPostgresReason, startPostgres } from "../support/postgres.ts";
import { dataFolder } from "../support/process.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const REASON = "The database of the views does not answer.";

describe.skipIf(noPostgresReason !== undefined)("on PostgreSQL", () => {
  test("a database that is away is no fault of the program: 503 with the reason, and all is there when it is back", async () => {
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
    const resent = await call("/v1/events?resent=true", { body: event({ event_id: "evt_3" }) });
    expect([resent.status, resent.json.code]).toEqual([503, "not_ready"]);
    expect(service.lines.filter(({ message }) => message === "a request failed")).toEqual([]);

    await postgres.start();
    await until("it is ready again", async () => (await call("/health/ready")).status === 200);
    expect((await call("/v1/events/evt_2?min_sequence=2")).status).toBe(200);
    expect((await call("/v1/events/evt_3")).status).toBe(404);
  });

  test("a database that was emptied is no fault of the program either, and all is there after another start", async () => {
    await using postgres = await startPostgres();
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
        expect([path, status, json.code]).toEqual([path, 503, "not_ready"]);
      }
      expect((await call("/v1/events", { body: event({ event_id: "evt_2" }) })).status).toBe(202);
      expect(service.lines.filter(({ message }) => message === "a request failed")).toEqual([]);
    }
    await using service = await startTestService(environment);
    for (const id of ["evt_1", "evt_2"])
      expect([id, (await service.call(`/v1/events/${id}?min_sequence=2`)).status]).toEqual([id, 200]);
  });
});
