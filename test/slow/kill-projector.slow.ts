import { expect, test } from "bun:test";
import { CASES, killProjector } from "../chaos/kill-projector.ts";

test("a projector that is killed again and again makes the same views as one that runs undisturbed", async () => {
  const { kills, rows, differences } = await killProjector(3, { seed: 3, cases: CASES });
  expect({ kills, differences }).toEqual({ kills: 3, differences: [] });
  expect(rows).toBeGreaterThan(10_000);
});
