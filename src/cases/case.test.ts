import { expect, test } from "bun:test";
import { caseOf } from "./case.ts";
import { DECISION_MADE, type Fact, type Links } from "./fact.ts";

/** `id type hour`. */
const fact = (line: string, links: Links): Fact => {
  const [id = "", type = "", hour = ""] = line.split(" ");
  return { id, type, at: `2026-09-01T${hour}`, sequence: 1, asset: "a", links, says: {} };
};

const made = (id: string, hour: string, correlation: string): Fact =>
  fact(`${id} ${DECISION_MADE} ${hour}`, { correlation, decision: id });
const notice = (id: string, hour: string): Fact =>
  fact(`${id} transparency.notice_shown ${hour}`, { correlation: "c" });
const explanation = (id: string, hour: string): Fact =>
  fact(`${id} decision.explanation_provided ${hour}`, { correlation: "c" });

/** Of each decision the facts that belong to it. */
const decisionsIn = (...facts: readonly Fact[]) =>
  Object.fromEntries(
    caseOf(facts).decisions.map((decision) => [decision.id, decision.facts.map(({ id }) => id)]),
  );

test("what names no decision belongs to the nearest of its correlation: a notice to the next one, an answer to the last one", () => {
  const facts = [
    made("d1", "10", "c"),
    notice("n", "11"),
    explanation("e", "11"),
    made("beside", "11", "other"),
    made("d2", "12", "c"),
    notice("late", "13"),
    explanation("early", "09"),
  ];
  const expected = { d1: ["early", "d1", "e"], beside: ["beside"], d2: ["n", "d2", "late"] };
  expect(decisionsIn(...facts)).toEqual(expected);
  expect(decisionsIn(...facts.toReversed())).toEqual(expected);
});

test("a notice that names no decision is for all that are made from then on in its correlation, each as it was made first", () => {
  const facts = [
    made("d1", "10", "c"),
    notice("n", "11"),
    made("d2", "12", "c"),
    { ...made("d3", "13", "c"), links: { decision: "d3" } },
    { ...made("again", "14", "c"), links: { correlation: "c", decision: "d1" } },
    { ...made("late", "15", "c"), links: { correlation: "c", decision: "d3" } },
    made("beside", "16", "other"),
  ];
  const expected = {
    d1: ["d1", "again"],
    d2: ["n", "d2"],
    d3: ["n", "d3", "late"],
    beside: ["beside"],
  };
  expect(decisionsIn(...facts)).toEqual(expected);
  expect(decisionsIn(...facts.toReversed())).toEqual(expected);
});

test("where one decision was made, or only one is named, it is meant", () => {
  expect(decisionsIn(notice("late", "11"), made("d", "10", "other"))).toEqual({ d: ["d", "late"] });
  const named = fact("r decision.decision_reversed 12", { decision: "d" });
  expect(decisionsIn(notice("n", "11"), named)).toEqual({ d: ["n", "r"] });
  const another = fact("x decision.decision_reversed 13", { decision: "x" });
  expect(decisionsIn(notice("n", "11"), named, another)).toEqual({ d: ["r"], x: ["x"] });
});
