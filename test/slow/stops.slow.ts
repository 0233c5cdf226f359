/** What does not hold up a stop. */
import { expect, test } from "bun:test";
import { callUntilSeen } from "../support/call-until-seen.ts";
import { noPostgresReason, testPostgres } from "../support/postgres.ts";
import { dataFolder, readyService } from "../support/process.ts";
import { startProxy } from "../support/proxy.ts";
import { ADMIN_KEY, createCaller, event, startTestService, type TestService } from "../support/service.ts";
import { LAST_CHUNK, openUntaken } from "../support/untaken-answer.ts";
import { until } from "../support/until.ts";

const sendAll = async (at: TestService, events: readonly object[]): Promise<number> => {
  let sequence = 0;
  for (let from = 0; from < events.length; from += 100) {
    const batch = events.slice(from, from + 100);
    const answer = await at.call("/v1/events/batch", { body: { events: batch } });
    if (answer.json.data.accepted !== batch.length) throw new Error(answer.text);
    sequence = answer.json.data.sequence;
  }
  return sequence;
};

test("an export that nobody reads is broken off when the service stops", async () => {
  const at = await startTestService();
  const padding = "x".repeat(100_000);
  const events = Array.from({ length: 200 }, (_, index) =>
    event({ event_id: `evt_${index}`, metadata: { padding } }),
  );
  const last = await sendAll(at, events);
  // An export goes to the position of the view at its start; a short one fits into the buffers on its way.
  await callUntilSeen(at.call, `/v1/events?limit=1&min_sequence=${last}`);
  const answer = await openUntaken(`${at.url}/v1/export`, { authorization: `Bearer ${at.adminKey}` });
  await at[Symbol.asyncDispose]();
  expect(await answer.text()).not.toEndWith(LAST_CHUNK);
});

test.skipIf(noPostgresReason !== undefined)(
  "a database that does not answer does not delay a stop: readers are told so, and the exit code is 0",
  async () => {
    const postgres = await testPostgres();
    await using database = await postgres.createDatabase();
    const url = new URL(database.url);
    using proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    await using folder = await dataFolder();
    const environment = { DATABASE_URL: url.href, ADMIN_API_KEY: ADMIN_KEY };
    await using service = await readyService({ dataDir: folder.path, environment });
    expect((await service.call("/v1/events", { body: event({ event_id: "evt_1" }) })).status).toBe(202);
    const shown = await service.call("/v1/events/evt_1?min_sequence=1");
    expect([shown.status, shown.json.code]).toEqual([200, undefined]);
    let isAsked = false;
    proxy.mute();
    using asking = await startProxy(Number(new URL(service.url).port), () => {
      isAsked = true;
    });
    const read = createCaller(`http://127.0.0.1:${asking.port}`, ADMIN_KEY)("/v1/events");
    await until("it is asked", () => isAsked);
    // The projector has to write it.
    expect((await service.call("/v1/events", { body: event({ event_id: "evt_2" }) })).status).toBe(202);
    service.kill("SIGTERM");
    const { status, json } = await read;
    expect([status, json.code]).toEqual([503, "not_ready"]);
    expect(await service.ended()).toBe(0);
    expect(service.output).not.toContain("could not stop in time");
  },
);
