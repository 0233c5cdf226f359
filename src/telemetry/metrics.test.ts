import { expect, test } from "bun:test";
import { createMetrics } from "./metrics.ts";

test("two services in one process count separately, and have no metric that walks the heap", async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.countOutcomes([{ kind: "appended" }]);
  const [text, otherText] = await Promise.all([one.registry.metrics(), other.registry.metrics()]);
  for (const each of [text, otherText]) {
    expect(each).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(each).toMatch(/^nodejs_heap_size_used_bytes \d+$/m);
    expect(each).not.toContain("heap_space");
  }
  expect(text).toContain('prooftrail_append_outcomes_total{outcome="appended"} 1');
  expect(otherText).toContain('prooftrail_append_outcomes_total{outcome="appended"} 0');
});

test("the duration of requests has samples, whose buckets are cumulative", async () => {
  const { registry, countRequest } = createMetrics();
  for (const seconds of [0.0005, 0.02, 60])
    countRequest({ method: "GET", route: "/v1/events", status: 200, seconds });
  const text = await registry.metrics();
  const name = "prooftrail_http_request_duration_seconds";
  const bucket = (le: string): string => `${name}_bucket{le="${le}",route="/v1/events"}`;
  for (const line of [
    `${bucket("0.001")} 1`,
    `${bucket("0.025")} 2`,
    `${bucket("10")} 2`,
    `${bucket("+Inf")} 3`,
    `${name}_count{route="/v1/events"} 3`,
  ])
    expect(text).toContain(`${line}\n`);
  expect(text).toMatch(new RegExp(`^${name}_sum\\{route="/v1/events"\\} 60.02`, "m"));
});

test("what is found out when metrics are read keeps its last values while nobody knows, and has none before", async () => {
  const { registry, watch } = createMetrics();
  const name = "prooftrail_disk_free_bytes";
  const samples = async () => (await registry.metrics()).match(new RegExp(`^${name}.*$`, "gm")) ?? [];
  expect(await samples()).toEqual([]);
  watch.diskFree(async () => [{ labels: { folder: "data" }, value: 7 }]);
  expect(await samples()).toEqual([`${name}{folder="data"} 7`]);
  watch.diskFree(async () => undefined);
  expect(await samples()).toEqual([`${name}{folder="data"} 7`]);
  watch.diskFree(async () => []);
  expect(await samples()).toEqual([]);
});

test("a process is not ready, but starting, until it says what it is", async () => {
  const { registry, watch } = createMetrics();
  const read = async () =>
    (await registry.metrics())
      .match(/^prooftrail_(?:ready|health_reason).*$/gm)
      ?.map((line) => line.slice(11));
  expect(await read()).toEqual(["ready 0", 'health_reason{reason="starting"} 1']);
  watch.ready(async () => [{ value: 1 }]);
  watch.healthReason(async () => undefined);
  expect(await read()).toEqual(["ready 1", 'health_reason{reason="starting"} 1']);
});
