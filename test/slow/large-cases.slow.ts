/** Answers about cases so large that few of them fit into memory. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { event, startTestService, type TestService } from "../support/service.ts";
import { openUntaken, type UntakenAnswer } from "../support/untaken-answer.ts";
import { until } from "../support/until.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Sends events, and reads a path once the views have seen them. */
const readAfter = async (path: string, events: readonly object[]) => {
  const sent = await service.call("/v1/events/batch", { body: { events } });
  expect(sent.json.data).toMatchObject({ accepted: events.length });
  return service.call(`${path}?min_sequence=${sent.json.data.sequence}`);
};

test("cases and decisions count against the memory limit for answers, as lists do, and free their place when their readers leave", async () => {
  const padding = "x".repeat(240_000);
  const events = Array.from({ length: 120 }, (_, index) =>
    event({
      event_id: `evt_wide_${index}`,
      correlation_id: "wide",
      metadata: { decision_id: "wide", padding },
    }),
  );
  for (let from = 0; from < events.length; from += 60)
    await readAfter("/v1/assets", events.slice(from, from + 60));
  const authorized = { authorization: `Bearer ${service.adminKey}` };
  for (const path of ["/v1/cases/wide", "/v1/decisions/wide"]) {
    expect((await service.call(path)).text.length).toBeGreaterThan(events.length * padding.length);
    const untaken: UntakenAnswer[] = [];
    let status = "";
    // Half of the limit is 128 MiB, and one answer holds 27 MiB.
    while (untaken.length < 8 && status !== "503") {
      const answer = await openUntaken(service.url + path, authorized);
      untaken.push(answer);
      status = answer.begun().slice("HTTP/1.1 ".length).slice(0, 3);
    }
    expect([path, status]).toEqual([path, "503"]);
    for (const answer of untaken) answer.disconnect();
    await until("it is answered again", async () => (await service.call(path)).status === 200);
  }
});
