import { expect, test } from "bun:test";
import { createMetrics } from "./metrics.ts";

test("two services in one process have what the process has, each its own numbers, and nothing that is found by going through the heap", async () => {
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
