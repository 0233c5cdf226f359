import { expect, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import { until } from "../../test/support/until.ts";
import { createMetrics } from "./metrics.ts";

test("two services in one process share the process metrics, count separately, and have no metric that walks the heap", async () => {
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

test("the event loop lag is always a number: the last one if nothing was measured since", async () => {
  const { registry } = createMetrics();
  const read = async () =>
    (await registry.metrics()).split("\n").filter((line) => line.startsWith("nodejs_eventloop_lag_m"));
  // A delay may be measured between two reads.
  const repeated = await until("two reads in a row gave the same", async () => {
    const once = await read();
    return once.length > 0 && isDeepStrictEqual(await read(), once) && once;
  });
  expect(repeated).toEqual([
    expect.stringMatching(/^nodejs_eventloop_lag_min_seconds [0-9.e-]+$/),
    expect.stringMatching(/^nodejs_eventloop_lag_max_seconds [0-9.e-]+$/),
    expect.stringMatching(/^nodejs_eventloop_lag_mean_seconds [0-9.e-]+$/),
  ]);
  expect(await registry.metrics()).not.toMatch(/ nan$/im);
});
