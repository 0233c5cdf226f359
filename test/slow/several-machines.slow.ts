/** Several front ends and projectors on one broker and one PostgreSQL database, as if on several machines. */
import { describe, expect, test } from "bun:test";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { HEARTBEAT } from "../support/histories/source-life.ts";
import { makeHistory } from "../support/histories.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";
import { dataFolder, spawnService } from "../support/process.ts";
import { ADMIN_KEY, event } from "../support/service.ts";
import { until } from "../support/until.ts";

describe.skipIf(noPostgresReason !== undefined)("on PostgreSQL", () => {
  test("an event that one front end takes is shown by another, and a killed projector is replaced", async () => {
    await using database = await (await testPostgres()).createDatabase();
    await using broker = await startTestBroker();
    const shared = {
      ...settingsFor(broker),
      DATABASE_URL: database.url,
      ADMIN_API_KEY: ADMIN_KEY,
      LOG_LEVEL: "warn",
      EXTRA_EVENT_TYPES: HEARTBEAT,
    };
    await using one = await dataFolder();
    await using two = await dataFolder();
    await using first = await spawnService({ dataDir: one.path, environment: shared });
    await first.untilReady();
    await using second = await spawnService({ dataDir: two.path, environment: shared });
    await second.untilReady();

    const history = makeHistory({ seed: 11, assets: 3, cases: 20 });
    const [early, late] = [history.events.slice(0, 150), history.events.slice(150)];
    const sent = await first.call("/v1/events/batch", { body: { events: early } });
    const shown = await second.call(`/v1/events?limit=1&min_sequence=${sent.json.data.sequence}`);
    expect([sent.json.data.accepted, shown.status]).toEqual([150, 200]);

    first.kill("SIGKILL");
    await first.ended();
    const answer = await second.call("/v1/events/batch", { body: { events: late } });
    const { sequence } = answer.json.data;
    await until("the other projector has taken over", async () => {
      const found = await second.call(`/v1/decisions?limit=1&min_sequence=${sequence}`);
      return found.status === 200;
    });

    const decisions = await second.call("/v1/decisions?limit=200");
    expect(decisions.json.data).toHaveLength(history.decisions.length);
    const after = await second.call("/v1/events", { body: event({ event_id: "evt_after" }) });
    expect(after.status).toBe(202);
    const balance = await second.call(`/v1/reconciliation?min_sequence=${after.json.data.sequence}`);
    expect(balance.json.data.hours.every(({ state }: { state: string }) => state !== "not_projected")).toBe(
      true,
    );
  });
});
