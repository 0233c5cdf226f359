/** The short form of `bun run outage`. */
import { expect, test } from "bun:test";
import { runOutage } from "../sdk/outage-run.ts";

test("events captured while the service was away, by clients that were killed meanwhile, are in the log exactly once", async () => {
  const said: string[] = [];
  const report = await runOutage({
    outageMs: 1500,
    calmMs: 200,
    eventsPerSecond: 500,
    kills: 2,
    say: (line) => said.push(line),
  });
  expect(report).toMatchObject({ dropped: 0, gaps: 0, violations: [] });
  expect(report.captured).toBeGreaterThan(500);
});
