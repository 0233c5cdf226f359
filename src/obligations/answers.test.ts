import { expect, test } from "bun:test";
import fc from "fast-check";
import { mayAnswerOne } from "../cases/answers.ts";
import { type Case, caseOf } from "../cases/case.ts";
import { basesOf, earlier, type Fact, inOrder } from "../cases/fact.ts";
import {
  asksForExplanation,
  isExplanation,
  isReversal,
  type Objection,
  openingsOf,
} from "../cases/objection.ts";
import { answersIn } from "./answers.ts";
import { namedBases } from "./deadlines.ts";

const personOf = ({ facts }: Objection): string | undefined => facts.find(({ subject }) => subject)?.subject;

/** The definition, word for word: every fact with every objection. */
const answersUndecided = ({ facts, objections, reviews }: Case) => {
  const whole = objections.filter(({ decisionId }) => decisionId === undefined);
  if (new Set(whole.flatMap((each) => personOf(each) ?? [])).size < 2) return () => true;
  const undecided = whole.flatMap(openingsOf);
  const askedBy = ({ id }: Objection) => whole.filter((each) => each.id === id).map(personOf)[0];
  const answered = new Set<Objection>();
  const persons = new Map<Fact, string | undefined>();
  for (const fact of facts) {
    const triggered = reviews.find(({ completed }) => completed === fact)?.triggered;
    const said = [fact, ...(triggered ? [triggered] : [])];
    if (!mayAnswerOne(fact)) continue;
    const waiting = undecided
      .filter((each) => asksForExplanation(each) === isExplanation(fact) && !answered.has(each))
      .flatMap((each) => (each.received && each.received.at <= fact.at ? [{ each, at: each.received }] : []))
      .filter(({ each }) => !((each.ended?.at ?? "9") <= fact.at))
      .sort((one, other) => inOrder(one.at, other.at));
    const objection = fact.links.objection ?? triggered?.links.objection;
    if (objection !== undefined)
      for (const { each } of waiting) if (each.id === objection) answered.add(each);
    if (said.some(({ links }) => links.decision ?? links.objection)) continue;
    const last = waiting.at(-1)?.each;
    const person = fact.subject ?? triggered?.subject ?? (last && askedBy(last));
    for (const { each } of waiting) if (askedBy(each) === person) answered.add(each);
    persons.set(fact, person);
  }
  return (fact: Fact, objection: Objection) =>
    !persons.has(fact) || persons.get(fact) === personOf(objection);
};

const answersAsSaid = (is: Case, objection: Objection) => {
  const decision = is.decisions.find(({ id }) => id === objection.decisionId);
  const answers = answersUndecided(is);
  const isAbout = (named: string | undefined) => (named ?? objection.id) === objection.id;
  const undecided = is.facts.filter(
    (fact) => fact.links.decision === undefined && isAbout(fact.links.objection) && answers(fact, objection),
  );
  const facts = decision?.facts ?? undecided;
  const reviews =
    decision?.reviews ??
    is.reviews.filter(
      ({ decisionId, completed, triggered }) =>
        decisionId === undefined &&
        completed !== undefined &&
        isAbout(completed.links.objection ?? triggered?.links.objection) &&
        answers(completed, objection),
    );
  return {
    made: decision?.made,
    named: namedBases(basesOf(facts)),
    explained: (at: string) =>
      facts.find((fact) => isExplanation(fact) && fact.at >= at && isAbout(fact.links.objection)),
    redone: (at: string) =>
      earlier(
        facts.find((fact) => isReversal(fact) && fact.at >= at),
        ...reviews.flatMap(({ completed }) => (completed && completed.at >= at ? completed : [])),
      ),
  };
};

const some = (...values: readonly string[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
const TYPES = [
  "objection.received",
  "objection.resolved",
  "decision.explanation_provided",
  "decision.decision_reversed",
  "decision.human_review_triggered",
  "decision.human_review_completed",
  "decision.automated_decision_made",
  "ai_inference",
];

const anyFacts = fc
  .array(
    fc.record({
      type: fc.constantFrom(...TYPES),
      second: fc.nat({ max: 5 }),
      subject: some("p", "q", "r"),
      basis: some("gdpr_art_22", "eu_ai_act_art_73", "x"),
      links: fc.record({ correlation: some("c", "e"), objection: some("o", "evt_0", "evt_1") }),
      asks: fc.boolean(),
      denies: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .chain((said) => fc.record({ said: fc.constant(said), decision: some("d") }))
  .map(({ said, decision }) =>
    said.map(({ type, second, subject, basis, links, asks, denies }, index): Fact => {
      const id = `evt_${index}`;
      const isReceived = type === "objection.received";
      const objection = links.objection ?? (isReceived ? id : undefined);
      return {
        at: `2026-11-20T10:00:0${second}`,
        id,
        sequence: index + 1,
        recorded: "2026-12-01T00:00:00",
        type,
        asset: "a",
        ...(subject !== undefined && { subject }),
        ...(basis !== undefined && { bases: [basis] }),
        links: {
          ...(links.correlation !== undefined && { correlation: links.correlation }),
          ...(objection !== undefined && { objection }),
          ...(decision !== undefined && index % 4 === 0 && { decision }),
        },
        says: {
          ...(isReceived && asks && { objection_type: "explanation_request" }),
          ...(type === "objection.resolved" && denies && { resolution: "denied", reason: "no" }),
        },
      };
    }),
  );

test("the search by time and person finds the same answers to an objection as comparing every fact with every objection", () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const is = caseOf(facts);
      const answers = answersIn(is);
      for (const objection of is.objections) {
        const [found, known] = [answers(objection), answersAsSaid(is, objection)];
        expect(found.made).toBe(known.made);
        expect(new Set(found.named)).toEqual(new Set(known.named));
        for (const { at } of facts) {
          expect(found.explained(at)).toBe(known.explained(at));
          expect(found.redone(at)).toBe(known.redone(at));
        }
      }
    }),
    { numRuns: 2000 },
  );
});
