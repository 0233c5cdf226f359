/** What a case remembers if it has too many events and some of them have expired. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fact } from "../../../test/support/facts.ts";
import { inOrder } from "../../law/cases/fact.ts";
import { weightOf } from "../../law/cases/weight.ts";
import { CASE_FACTS_MAX } from "../../limits.ts";
import { EMPTY, type Node, withFact, withoutFacts } from "./nodes.ts";

const timeAt = (second: number): string => new Date(Date.UTC(2027, 0, 1, 0, 0, second)).toISOString();
const factAt = (second: number) => fact(`evt_${second} decision.explanation_provided ${timeAt(second)}`);

const full = (): Node => {
  let node = EMPTY;
  for (let second = 0; second < CASE_FACTS_MAX; second++) node = withFact(node, factAt(second));
  return node;
};

/** A full case of which the first events have expired. */
const expired = (): Node =>
  withoutFacts(full(), ({ at }) => (at < timeAt(CASE_FACTS_MAX - 2).slice(0, 19) ? 1 : undefined));

const idsIn = ({ facts }: Node): readonly string[] => facts.map(({ id }) => id);

test("an expired event keeps its place, so that a later event finds no more room than before", () => {
  const node = expired();
  expect(idsIn(node)).toEqual([`evt_${CASE_FACTS_MAX - 2}`, `evt_${CASE_FACTS_MAX - 1}`]);
  const later = withFact(node, factAt(CASE_FACTS_MAX));
  expect(idsIn(later)).toEqual(idsIn(node));
  expect(later.events).toBe(CASE_FACTS_MAX + 1);
});

test("an earlier event replaces the last one, as it would have before the expiry", () => {
  const between = fact(
    `evt_between decision.explanation_provided ${timeAt(CASE_FACTS_MAX - 2).replace(".000", ".500")}`,
  );
  expect(idsIn(withFact(expired(), between))).toEqual([`evt_${CASE_FACTS_MAX - 2}`, "evt_between"]);
});

const TYPES = [
  "decision.automated_decision_made",
  "transparency.notice_shown",
  "objection.received",
  "ai_inference",
] as const;
/** Some events have equal times. */
const anyArrival = fc
  .array(fc.constantFrom(...TYPES), { minLength: CASE_FACTS_MAX + 60, maxLength: CASE_FACTS_MAX + 60 })
  .map((types) => types.map((type, index) => fact(`evt_${index} ${type} ${timeAt(index >> 1)}`)))
  .chain((facts) => fc.shuffledSubarray(facts, { minLength: facts.length }));

test("the kept events do not depend on the order of arrival: the first decision and notice, then by weight and time", () => {
  fc.assert(
    fc.property(anyArrival, (arrival) => {
      const ordered = [...arrival].sort(inOrder);
      const isFirst = (each: (typeof arrival)[number]) =>
        (each.type === TYPES[0] || each.type === TYPES[1]) &&
        each === ordered.find(({ type }) => type === each.type);
      const firsts = ordered.filter(isFirst);
      const rest = ordered.filter((each) => !isFirst(each));
      const kept = [...firsts, ...rest.sort((one, other) => weightOf(one) - weightOf(other))];
      const expected = kept.slice(0, CASE_FACTS_MAX).sort(inOrder);
      const node = arrival.reduce(withFact, EMPTY);
      expect(idsIn(node)).toEqual(expected.map(({ id }) => id));
      const others = kept.slice(CASE_FACTS_MAX).sort(inOrder);
      expect(node.others).toEqual([others.at(0)?.at ?? "", others.at(-1)?.at ?? ""]);
    }),
    { numRuns: 20 },
  );
});
