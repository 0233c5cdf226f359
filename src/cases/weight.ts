/** What says more of a case than other things, for a name with more events than are kept. */
import { DECISION_MADE, type Fact, isNotice } from "./fact.ts";

/** The less, the heavier. */
export type Weight = (typeof WEIGHTS)[keyof typeof WEIGHTS];

const WEIGHTS = {
  /** Of objections, explanations, reviews, reversals, incidents: what clocks and most registers read. */
  answer: 0,
  notice: 1,
  decision: 2,
  /** Answers of a model, labels, models, assets: no register reads them from a case. */
  other: 3,
} as const;

const ANSWERS = /^(decision|objection|incident)\.|^(objection|human_review)$/;

export const weightOf = (fact: Pick<Fact, "type">): Weight => {
  if (fact.type === DECISION_MADE) return WEIGHTS.decision;
  if (isNotice(fact)) return WEIGHTS.notice;
  return ANSWERS.test(fact.type) ? WEIGHTS.answer : WEIGHTS.other;
};

/** Of these the first one counts most, and without it a case says what never was: a decision without a notice, or that nobody made. */
export const FIRST_STAYS: readonly Weight[] = [WEIGHTS.notice, WEIGHTS.decision];
