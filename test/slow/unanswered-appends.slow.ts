/** A broker that does not answer until an append is given up. */
import { expect, test } from "bun:test";
import { APPEND_ACK_MS_MAX } from "../../src/limits.ts";
import { appenderOn, smallRecord, startTestLog } from "../support/log.ts";
import { brokerPid, standStill } from "../support/process.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

test.concurrent("if the first attempt was answered 503 with an unknown outcome, the retry is stored once", async () => {
  await using service = await startTestService();
  const pid = brokerPid(service.dataDir);
  const body = event({ event_id: "evt_unknown" });
  const headers = { "idempotency-key": "k-unknown" };
  await standStill(pid);
  const first = await service.call("/v1/events", { body, headers });
  process.kill(pid, "SIGCONT");
  expect([first.status, first.json.code]).toEqual([503, "log_unavailable"]);
  const retry = await until("the log answers", async () => {
    const answer = await service.call("/v1/events", { body, headers });
    return answer.status === 202 ? answer : undefined;
  });
  // The broker stored it when it resumed.
  expect(retry.json.data).toMatchObject({ sequence: 1, duplicate: true });
});

test("records that wait behind an unanswered commit wait no longer than that commit", async () => {
  await using log = await startTestLog();
  const appender = appenderOn(log.connection);
  await standStill(log.broker.pid);
  const startedAt = performance.now();
  const sent = appender.append([smallRecord("sent")]);
  const waiting = appender.append([smallRecord("one"), smallRecord("two")]);
  for (const outcomes of await Promise.all([sent, waiting]))
    for (const { kind } of outcomes) expect(["unknown", "refused"]).toContain(kind);
  // The other's time plus its own would be twice as much.
  expect(performance.now() - startedAt).toBeLessThan(2 * APPEND_ACK_MS_MAX);
  process.kill(log.broker.pid, "SIGCONT");
  const [again] = await appender.append([smallRecord("sent")]);
  expect(again).toEqual({ kind: "duplicate", sequence: 1 });
});
