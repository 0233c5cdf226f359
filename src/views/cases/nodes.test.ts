/** What a case keeps if it has too many events. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fact } from "../../../test/support/facts.ts";
import { inOrder } from "../../law/cases/fact.ts";
import { CASE_FACTS_MAX } from "../../limits.ts";
import { EMPTY, type Node, weightOf, withFact } from "./nodes.ts";

const timeAt = (second: number): string => new Date(Date.UTC(2027, 0, 1, 0, 0, second)).toISOString();
const idsIn = ({ facts }: Node): readonly string[] => facts.map(({ id }) => id);

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
      const node = arrival.reduce((kept, each) => withFact(kept, each), EMPTY);
      expect(idsIn(node)).toEqual(expected.map(({ id }) => id));
      const others = kept.slice(CASE_FACTS_MAX).sort(inOrder);
      expect(node.others).toEqual([others.at(0)?.at ?? "", others.at(-1)?.at ?? ""]);
    }),
    { numRuns: 20 },
  );
});
