import { expect, test } from "bun:test";
import { fact } from "../../../test/support/facts.ts";
import { caseOf } from "../cases/case.ts";
import { auditedDates, dateInNewYork, joinedDates, needsBiasAudit } from "./bias-audit.ts";

test("a year ends on the same date, or on the last day of February if that year has no such date", () => {
  expect(auditedDates("2025-03-01T12:00:00", undefined)).toEqual({ first: "2025-03-01", last: "2026-03-01" });
  expect(auditedDates("2024-02-29T12:00:00", undefined)).toEqual({ first: "2024-02-29", last: "2025-02-28" });
});

test("dates of the first years and of the last year have four digits", () => {
  expect(auditedDates("0099-03-02T12:00:00", undefined)).toEqual({ first: "0099-03-02", last: "0100-03-02" });
  expect(auditedDates("9999-03-02T12:00:00", undefined)).toEqual({ first: "9999-03-02", last: "9999-12-31" });
  expect(dateInNewYork("0000-01-01T00:00:00")).toBe("0000-01-01");
});

test("dates are those of New York in winter and in summer", () => {
  expect(dateInNewYork("2026-01-02T04:59:59.999999999")).toBe("2026-01-01");
  expect(dateInNewYork("2026-01-02T05:00:00")).toBe("2026-01-02");
  expect(dateInNewYork("2026-07-02T03:59:59")).toBe("2026-07-01");
  expect(dateInNewYork("2026-07-02T04:00:00")).toBe("2026-07-02");
});

test("a stated end can shorten the year but never extend it, and a text that is no date is ignored", () => {
  const lastOf = (validUntil: string) => auditedDates("2025-03-01T12:00:00", validUntil).last;
  expect(lastOf("2025-12-31")).toBe("2025-12-31");
  expect(lastOf("2030-01-01")).toBe("2026-03-01");
  for (const none of ["next summer", "2025-02-30", "2025-13-01", "2025-00-10T00:00:00Z", "2025-06-31 or so"])
    expect([none, lastOf(none)]).toEqual([none, "2026-03-01"]);
});

test.each([
  ["2025-12-31T04:59:58Z", "2025-12-29"],
  // The last second of a day in New York is its end.
  ["2025-12-31T04:59:59Z", "2025-12-30"],
  ["2025-12-30T23:59:59.999-05:00", "2025-12-30"],
  ["2025-12-31T05:00:00Z", "2025-12-30"],
  ["2025-12-31T00:00:00Z", "2025-12-29"],
  ["2025-12-31T23:59:59+14:00", "2025-12-30"],
  ["2025-07-02T03:59:59z", "2025-07-01"],
  ["2025-12-31T23:59:60Z", "2025-12-30"],
  ["2026-03-02T05:00:00Z", "2026-03-01"],
  ["9999-12-31T23:59:59Z", "2026-03-01"],
])("an audit valid until %s covers the days of New York that are over by then: %s", (validUntil, last) => {
  expect(auditedDates("2025-03-01T12:00:00", validUntil).last).toBe(last);
});

test("no date is in two of the joined ranges, and a range that ends before it begins is dropped", () => {
  const joined = joinedDates([
    { first: "2026-01-01", last: "2027-01-01" },
    { first: "2024-01-01", last: "2025-01-01" },
    { first: "2025-01-01", last: "2025-06-01" },
    { first: "2024-02-01", last: "2024-03-01" },
    { first: "2028-01-01", last: "2027-12-31" },
  ]);
  expect(joined).toEqual([
    { first: "2024-01-01", last: "2025-06-01" },
    { first: "2026-01-01", last: "2027-01-01" },
  ]);
});

test.each([
  ["2023-07-05T02:00:00Z", false],
  ["2023-07-05T04:00:00Z", true],
])("the law asks for an audit before a decision of %s or not, by the date in New York", (at, isNeeded) => {
  const made = fact(`d decision.automated_decision_made ${at}`, {}, { legal_bases: ["nyc_ll144"] });
  expect(caseOf([made]).decisions.map(needsBiasAudit)).toEqual([isNeeded]);
});
