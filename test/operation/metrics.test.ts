/** What `/metrics` has after a life with a bit of everything. */
import { expect, test } from "bun:test";
import { HEALTH_REASON_IDS } from "../../src/service/health-reasons.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** Counted only after an hour or with a fault, or where the account of the broker has a limit. */
const BY_FAULT_OR_TIME = [
  "prooftrail_broker_limit_bytes",
  "prooftrail_reconciled_hours_total",
  "prooftrail_reconciled_events",
  "prooftrail_dead_letters_total",
];

const samplesOf = (text: string, name: string): readonly string[] =>
  text.match(new RegExp(`^${name}(?:_count)?[ {].*$`, "gm")) ?? [];

test("after some events each metric has a sample, and the health of the installation is among them", async () => {
  await using service = await startTestService();
  const { call } = service;
  for (const each of [event(), event({ event_id: "evt_2", event_type: "objection.received" })])
    expect((await call("/v1/events", { body: each })).status).toBe(202);
  expect((await call("/v1/events?min_sequence=2")).status).toBe(200);
  const text = await until("everything is sealed, watched, and counted", async () => {
    const read = (await call("/metrics")).text;
    const isDone =
      samplesOf(read, "prooftrail_unsealed_age_seconds")[0] === "prooftrail_unsealed_age_seconds 0" &&
      samplesOf(read, "prooftrail_monitor_round_timestamp_seconds").length === 1 &&
      samplesOf(read, "prooftrail_broker_stored_bytes").length === 2 &&
      samplesOf(read, "prooftrail_obligations").length > 0;
    return isDone && read;
  });
  const announced = [...text.matchAll(/^# HELP (prooftrail_\w+) /gm)].map(([, name = ""]) => name);
  const silent = announced.filter((name) => samplesOf(text, name).length === 0);
  expect(silent.filter((name) => !BY_FAULT_OR_TIME.includes(name))).toEqual([]);

  expect(samplesOf(text, "prooftrail_build_info")).toEqual([
    `prooftrail_build_info{version="0.0.0-test",runtime="bun ${Bun.version}"} 1`,
  ]);
  expect(samplesOf(text, "prooftrail_ready")).toEqual(["prooftrail_ready 1"]);
  expect(samplesOf(text, "prooftrail_health_reason").map((line) => line.split('"')[1])).toEqual([
    ...HEALTH_REASON_IDS,
  ]);
  const lags = samplesOf(text, "prooftrail_projection_lag_seconds");
  expect(lags).toContain('prooftrail_projection_lag_seconds{projection="events"} 0');
  expect(samplesOf(text, "prooftrail_disk_free_bytes")).toHaveLength(1);
  const ready = await call("/health/ready");
  expect([ready.status, ready.json.data]).toEqual([200, { status: "ready", warnings: expect.any(Array) }]);
});
