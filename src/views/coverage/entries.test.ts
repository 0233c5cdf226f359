import { expect, test } from "bun:test";
import { type CoverageState, stateOf } from "./entries.ts";

test.each<
  [due: number, inTime: number, late: number, pending: number, isStale: boolean, state: CoverageState]
>([
  [0, 0, 0, 0, false, "not_applicable"],
  [0, 0, 0, 0, true, "not_applicable"],
  // Nothing was due, and something is running.
  [0, 0, 0, 3, false, "pending"],
  [0, 0, 0, 3, true, "pending"],
  [2, 2, 0, 0, false, "covered"],
  [2, 2, 0, 3, false, "covered"],
  // New evidence is needed even if everything was covered.
  [2, 2, 0, 0, true, "stale"],
  [2, 0, 0, 0, true, "stale"],
  [2, 1, 0, 0, false, "partial"],
  [2, 0, 1, 0, false, "partial"],
  [2, 1, 1, 0, false, "partial"],
  [2, 0, 0, 0, false, "missing"],
])(
  "%i due, %i in time, %i late and %i pending, stale: %p, give %s",
  (due, in_time, late, pending, isStale, state) => {
    expect(stateOf({ due, in_time, late, pending }, isStale)).toBe(state);
  },
);
