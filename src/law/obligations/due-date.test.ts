import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Limit } from "./deadline-table.ts";
import { instantOf, limitEnd } from "./due-date.ts";

const in_ = (zone: string, ...holidays: readonly string[]) => ({ zone, holidays: new Set(holidays) });
const days = (count: number): Limit => ({ count, unit: "days" });
const months = (count: number): Limit => ({ count, unit: "months" });
const businessDays = (count: number): Limit => ({ count, unit: "business_days" });

/** The limits of the law, each in its zone: clocks.test.ts. */
test.each([
  ["a month of a leap year", "2028-01-31T12:00:00Z", months(1), "UTC", "2028-02-29T23:59:59Z"],
  ["a month over the new year", "2026-12-15T12:00:00Z", months(1), "UTC", "2027-01-15T23:59:59Z"],
  ["from a Saturday", "2026-11-21T12:00:00Z", businessDays(10), "America/New_York", "2026-12-05T04:59:59Z"],
  ["no days at all", "2026-11-19T12:00:00Z", days(0), "UTC", "2026-11-19T23:59:59Z"],
  ["back by an hour", "2026-10-24T12:00:00Z", days(1), "Europe/Brussels", "2026-10-25T22:59:59Z"],
  ["to summer time", "2026-03-28T12:00:00Z", days(1), "Europe/Brussels", "2026-03-29T21:59:59Z"],
  ["an hour twice", "2026-04-03T12:00:00Z", days(1), "America/Santiago", "2026-04-05T03:59:59Z"],
  ["a leap second", "2026-06-30T23:59:60Z", days(1), "UTC", "2026-07-01T23:59:59Z"],
  ["nanoseconds", "2026-06-30T23:59:59.999999999Z", days(1), "UTC", "2026-07-01T23:59:59Z"],
])("%s", (_, start, limit, zone, end) => {
  expect(limitEnd(start, limit, in_(zone))).toBe(end);
});

test("a holiday is not a business day, but it counts as a day", () => {
  const start = "2026-12-24T09:00:00Z";
  const calendar = in_("UTC", "2026-12-25", "2026-12-28");
  expect(limitEnd(start, businessDays(1), calendar)).toBe("2026-12-29T23:59:59Z");
  expect(limitEnd(start, days(1), calendar)).toBe("2026-12-25T23:59:59Z");
});

test("a limit of business days ends at the end of the calendar, even if the calendar's last day is a holiday", () => {
  for (const zone of ["UTC", "Asia/Seoul", "America/New_York"])
    expect(limitEnd("9999-12-30T12:00:00Z", businessDays(3), in_(zone, "9999-12-31"))).toBe(
      "9999-12-31T23:59:59Z",
    );
});

test("a limit ends in the last second of a day of its zone, the given number of days after the first", () => {
  const zones = "Asia/Seoul Europe/Brussels America/Denver Pacific/Auckland Asia/Kathmandu UTC".split(" ");
  const dates = fc.date({ min: new Date("2026-01-01"), max: new Date("2036-01-01"), noInvalidDate: true });
  const localDate = (zone: string, instant: number): string =>
    new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" }).format(instant);
  fc.assert(
    fc.property(dates, fc.nat(400), fc.constantFrom(...zones), (date, count, zone) => {
      const end = instantOf(limitEnd(date.toISOString(), days(count), in_(zone)));
      const last = new Date(`${localDate(zone, date.getTime())}T12:00:00Z`);
      last.setUTCDate(last.getUTCDate() + count);
      expect(localDate(zone, end)).toBe(last.toISOString().slice(0, 10));
      expect(localDate(zone, end + 1000)).not.toBe(localDate(zone, end));
    }),
  );
});
