import { expect, test } from "bun:test";
import { CASE_NEIGHBOURS_MAX } from "../limits.ts";
import { caseOf } from "./case.ts";
import type { Fact } from "./fact.ts";

const fact = (second: number, type: Fact["type"], links: Fact["links"]): Fact => ({
  at: new Date(Date.UTC(2026, 10, 20) + second * 1000).toISOString().slice(0, -1),
  id: `evt_${String(second).padStart(6, "0")}`,
  sequence: second + 1,
  recorded: "2026-12-01T00:00:00",
  type,
  asset: "credit_model",
  links,
  says: {},
});

/** Notices in a correlation without decisions, each before one of the decisions of the case. */
const caseWith = (decisions: number) =>
  caseOf(
    Array.from({ length: decisions }, (_, index) => [
      fact(2 * index, "transparency.notice_shown", { correlation: "consent" }),
      fact(2 * index + 1, "decision.automated_decision_made", {
        correlation: `run_${index}`,
        decision: `dec_${index}`,
      }),
    ]).flat(),
  );

test("a notice belongs to all later decisions, but only to the next one if the case has too many decisions", () => {
  const noticesIn = (decisions: number) => caseWith(decisions).decisions.map(({ notices }) => notices.length);
  const few = Array.from({ length: CASE_NEIGHBOURS_MAX }, (_, index) => index + 1);
  expect(noticesIn(CASE_NEIGHBOURS_MAX)).toEqual(few);
  expect(noticesIn(CASE_NEIGHBOURS_MAX + 1)).toEqual([...few, 0].map(() => 1));
});

test("a case of thousands of notices and decisions keeps each notice once", () => {
  const { decisions } = caseWith(20_000);
  expect(decisions).toHaveLength(20_000);
  expect(decisions.reduce((sum, { notices }) => sum + notices.length, 0)).toBe(20_000);
});
