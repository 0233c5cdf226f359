/**
 * What answers an objection: what belongs to its decision or, where that is not known, what names the objection or stands under a correlation of which it is
 * the only one. Found by time, as a case may have thousands of objections and answers. Pure.
 */
import { firstFrom } from "../cases/by-time.ts";
import { type Case, type Decision, decisionsById } from "../cases/case.ts";
import { basesOf, earlier, type Fact, inOrder } from "../cases/fact.ts";
import { isExplanation, isReversal, type Objection } from "../cases/objection.ts";
import type { Review } from "../cases/reviews.ts";
import { type NamedBases, namedBases } from "./deadlines.ts";

export interface Answers {
  readonly made: Fact | undefined;
  /** The legal bases that any of these events names. */
  readonly named: NamedBases;
  /** The first explanation from then on that names no other objection. */
  explained(at: string): Fact | undefined;
  /** The first event from then on by which the decision was reversed or a person decided again. */
  redone(at: string): Fact | undefined;
}

const NONE: readonly never[] = [];

/** An explanation that names no objection may answer any. The explanations are in order. */
export const explainedBy = (explanations: readonly Fact[]) => {
  if (explanations.length === 0) return () => undefined;
  const about = Map.groupBy(explanations, ({ links }) => links.objection);
  return (objection: Pick<Objection, "id">, at: string): Fact | undefined => {
    const [own, any] = [
      firstFrom(about.get(objection.id) ?? NONE, at),
      firstFrom(about.get(undefined) ?? NONE, at),
    ];
    return own && any ? (inOrder(own, any) < 0 ? own : any) : (own ?? any);
  };
};

export const basesNamedIn = (facts: readonly Fact[]): NamedBases => namedBases(basesOf(facts));

export const answersIn = ({
  decisions,
  reviews,
}: Pick<Case, "decisions" | "reviews">): ((objection: Objection) => Answers) => {
  const byId = decisionsById(decisions);
  const byObjection = Map.groupBy(reviews, ({ objectionId }) => objectionId);
  const decided = new Map<Decision, AnswersTo>();
  return (objection) => {
    const decision = byId.get(objection.decisionId);
    if (decision === undefined)
      return answersAmong({
        made: undefined,
        explanations: objection.answers.filter(isExplanation),
        reversals: objection.answers.filter(isReversal),
        reviews: byObjection.get(objection.id) ?? NONE,
        bases: basesOf(objection.answers),
      })(objection);
    const answersTo = decided.get(decision) ?? answersAmong(decision);
    decided.set(decision, answersTo);
    return answersTo(objection);
  };
};

type AnswersTo = (objection: Pick<Objection, "id">) => Answers;

/** Reviews of one decision, or of one objection, follow each other, so their completions are in order. */
const answersAmong = (
  parts: Pick<Decision, "made" | "explanations" | "reversals" | "bases"> & {
    readonly reviews: readonly Review[];
  },
): AnswersTo => {
  const { made, explanations, reversals, reviews, bases } = parts;
  const explained = explainedBy(explanations);
  const completions = reviews.flatMap(({ completed }) => completed ?? NONE);
  const named = namedBases(bases);
  return (objection) => ({
    made,
    named,
    explained: (at) => explained(objection, at),
    redone: (at) => earlier(firstFrom(reversals, at), firstFrom(completions, at)),
  });
};
