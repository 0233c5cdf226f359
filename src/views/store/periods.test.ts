import { expect, test } from "bun:test";
import fc from "fast-check";
import { timeKey } from "../../event/formats.ts";
import { periodsBetween, periodsOf } from "./text-index.ts";

test("every time of a range is in one of its periods, and the number of periods is bounded", () => {
  const anyTime = fc
    .oneof(
      fc.date({ min: new Date("1990-01-01"), max: new Date("2110-01-01"), noInvalidDate: true }),
      fc.date({ min: new Date("2026-11-20"), max: new Date("2026-11-23"), noInvalidDate: true }),
    )
    .map((date) => timeKey(date.toISOString()));
  fc.assert(
    fc.property(
      anyTime,
      anyTime,
      anyTime,
      fc.boolean(),
      fc.boolean(),
      (one, other, time, isOpen, isEndless) => {
        const from = isOpen ? undefined : one;
        const to = isEndless ? undefined : other;
        const periods = periodsBetween({ name: "at", from, to });
        expect(periods.length).toBeLessThanOrEqual(140);
        expect(new Set(periods).size).toBe(periods.length);
        const isInside = (from === undefined || time >= from) && (to === undefined || time < to);
        if (isInside) expect(periodsOf(time).some((period) => periods.includes(period))).toBe(true);
      },
    ),
    { numRuns: 3000 },
  );
});
