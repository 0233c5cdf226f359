/** Which facts say most about a case, for a name that has more events than are kept. */
import { DECISION_MADE, type Fact, isNotice } from "./fact.ts";

/** The lower, the more important. */
export type Weight = (typeof WEIGHTS)[keyof typeof WEIGHTS];

const WEIGHTS = {
  /** Objections, explanations, reviews, reversals, incidents: used by clocks and most registers. */
  answer: 0,
  notice: 1,
  decision: 2,
  /** Answers of a model, labels, models, assets: no register reads them from a case. */
  other: 3,
} as const;

/** A waiver is a word of the operator about an obligation, so it is never dropped either. */
const ANSWERS = /^(decision|objection|incident|system)\.|^(objection|human_review)$/;

export const weightOf = (fact: Pick<Fact, "type">): Weight => {
  if (fact.type === DECISION_MADE) return WEIGHTS.decision;
  if (isNotice(fact)) return WEIGHTS.notice;
  return ANSWERS.test(fact.type) ? WEIGHTS.answer : WEIGHTS.other;
};

/** Of these the first one counts most. Without it a case would say what is not true: that a decision had no notice, or that nobody made it. */
export const FIRST_STAYS: readonly Weight[] = [WEIGHTS.notice, WEIGHTS.decision];
