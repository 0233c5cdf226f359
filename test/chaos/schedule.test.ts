import { expect, test } from "bun:test";
import { schedule } from "./schedule.ts";

test("a seed replays its schedule, and every kind of fault happens once before any repeats", () => {
  const kinds = ["a", "b", "c", "d"] as const;
  const options = { seed: 7, faults: 12, calmMsMax: 1000, lastsMsMax: 1000 };
  expect(schedule(kinds, options)).toEqual(schedule(kinds, options));
  expect(schedule(kinds, { ...options, seed: 8 })).not.toEqual(schedule(kinds, options));
  const first = schedule(kinds, options).slice(0, 4);
  expect(first.map(({ kind }) => kind)).toEqual([...kinds]);
});
