import { expect, test } from "bun:test";
import fc from "fast-check";
import { timeKey } from "../../event/formats.ts";
import { periodsBetween, periodsOf } from "./text-index.ts";

test("a time is in its year, month, day and hour", () => {
  expect(periodsOf("2026-11-20T10:04:59.5")).toEqual(["2026", "2026-11", "2026-11-20", "2026-11-20T10"]);
  expect(periodsOf("1999-12-31T23:59:60")).toEqual(periodsOf("9999-01-01T00:00:00"));
  expect(periodsOf("2050-01-01T00:00:00")).toEqual(periodsOf("9999-01-01T00:00:00"));
});

test("a range is split into its largest periods, from its first hour to its last", () => {
  const between = (from?: string, to?: string) => periodsBetween({ name: "at", from, to }).slice(1);
  expect(between("2026-10-01T00:00:00", "2026-10-02T00:00:00")).toEqual(["2026-10-01"]);
  expect(between("2026-11-30T22:58:30", "2026-12-01T01:00:00.5")).toEqual([
    ...["2026-11-30T22", "2026-11-30T23", "2026-12-01T00", "2026-12-01T01"],
  ]);
  expect(between("2025-12-30T23:30:00", "2026-02-01T00:00:00.1")).toEqual([
    ...["2025-12-30T23", "2025-12-31", "2026-01", "2026-02-01T00"],
  ]);
  expect(between("2025-12-31T23:30:00", "2027-01-01T00:00:00.1")).toEqual([
    ...["2025-12-31", "2026", "2027-01-01"],
  ]);
  expect(between("2028-12-01T00:00:00")).toEqual([
    "2028-12",
    ...Array.from({ length: 21 }, (_, index) => String(2029 + index)),
  ]);
  expect(between(undefined, "1999-01-01T00:00:00")).toEqual([]);
  expect(between("2026-10-02T00:00:00", "2026-10-01T00:00:00")).toEqual([]);
});

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
