import { expect, test } from "bun:test";
import { CASES, killProjector } from "./kill-projector.ts";

test("a projector that is killed again and again makes the same views as one that runs undisturbed", async () => {
  const { kills, rows, differences } = await killProjector(3, { seed: 3, cases: CASES });
  expect({ kills, differences }).toEqual({ kills: 3, differences: [] });
  expect(rows).toBeGreaterThan(10_000);
  // Longer than its last projector waits for its views, so that the test can report what that projector waited for.
}, 120_000);
