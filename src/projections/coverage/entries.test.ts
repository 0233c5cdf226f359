import { expect, test } from "bun:test";
import { type CoverageState, stateOf } from "./entries.ts";

test.each<[required: number, inTime: number, late: number, isStale: boolean, state: CoverageState]>([
  [0, 0, 0, false, "not_applicable"],
  [0, 0, 0, true, "not_applicable"],
  [2, 2, 0, false, "covered"],
  // New evidence is needed even if everything was covered.
  [2, 2, 0, true, "stale"],
  [2, 0, 0, true, "stale"],
  [2, 1, 0, false, "partial"],
  [2, 0, 1, false, "partial"],
  [2, 1, 1, false, "partial"],
  [2, 0, 0, false, "missing"],
])("%i required, %i in time and %i late, stale: %p, give %s", (required, in_time, late, isStale, state) => {
  expect(stateOf({ required, in_time, late }, isStale)).toBe(state);
});
