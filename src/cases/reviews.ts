/** Human reviews of a case. Pure, and a function of the set of facts. */
import type { DecisionFinder } from "./decision-finder.ts";
import type { Fact } from "./fact.ts";
import type { OtherPersons } from "./persons.ts";

export interface Review {
  /** The event that triggered it. Of an orphan, which nothing triggered, the event that completed it. */
  readonly id: string;
  readonly decisionId: string | undefined;
  readonly triggered: Fact | undefined;
  readonly completed: Fact | undefined;
}

export const isReviewCompleted = ({ type }: Fact): boolean =>
  type === "decision.human_review_completed" || type === "human_review";

/**
 * A decision has one review at a time (DOMAIN 2b), and so has a correlation where no decision is named. A trigger opens a review unless one is open, the next
 * completion closes it, and a completion without an open review is an orphan. An event that names nothing means the decision that was made last, or else what
 * is open in its correlation.
 */
export const reviewsOf = (parts: {
  readonly facts: readonly Fact[];
  readonly named: (fact: Fact) => string | undefined;
  readonly nearest: DecisionFinder["nearest"];
  readonly isOther: OtherPersons;
}): readonly Review[] => {
  const { facts, named, nearest, isOther } = parts;
  const ofReviews: Fact[] = [];
  for (const fact of facts)
    if (fact.type === "decision.human_review_triggered" || isReviewCompleted(fact)) ofReviews.push(fact);
  if (ofReviews.length === 0) return NONE;
  // At equal times the trigger comes first, whatever the ids.
  ofReviews.sort((one, other) =>
    one.at === other.at ? Number(isReviewCompleted(one)) - Number(isReviewCompleted(other)) : 0,
  );
  const only = onlyCorrelationIn(ofReviews);
  const correlationOf = ({ links }: Fact): string => links.correlation ?? only;
  const subjects = new Map<string, Subject>();
  /** Triggered reviews by the correlation of their trigger, in order. */
  const waiting = new Map<string, OpenReview[]>();
  for (const fact of ofReviews) {
    const decisionId = named(fact) ?? nearest(fact);
    const name = decisionId === undefined ? `correlation:${correlationOf(fact)}` : `decision:${decisionId}`;
    const subject = subjects.get(name) ?? { decisionId, reviews: [] };
    subjects.set(name, subject);
    const open = openIn(subject.reviews);
    if (!isReviewCompleted(fact)) {
      if (open) continue;
      const review: OpenReview = { id: fact.id, triggered: fact, completed: undefined };
      subject.reviews.push(review);
      const near = waiting.get(correlationOf(fact));
      if (near) near.push(review);
      else waiting.set(correlationOf(fact), [review]);
      continue;
    }
    const near = named(fact) === undefined ? waiting.get(correlationOf(fact)) : undefined;
    const meant = open ?? lastOpened(near ?? [], isOther(fact));
    if (meant) meant.completed = fact;
    else subject.reviews.push({ id: fact.id, triggered: undefined, completed: fact });
  }
  return [...subjects.values()].flatMap(({ decisionId, reviews }) =>
    reviews.map((review) => ({ ...review, decisionId })),
  );
};

/** What reviews are about: a decision, or a correlation where no decision is named. */
interface Subject {
  readonly decisionId: string | undefined;
  readonly reviews: OpenReview[];
}

interface OpenReview {
  readonly id: string;
  readonly triggered: Fact | undefined;
  completed: Fact | undefined;
}

const openIn = (reviews: readonly OpenReview[]): OpenReview | undefined => {
  const last = reviews.at(-1);
  return last?.completed === undefined ? last : undefined;
};

/** Drops completed ones from the end, so that they are not looked at again: there may be thousands. */
const lastOpened = (waiting: OpenReview[], isOfOther: (trigger: Fact) => boolean): OpenReview | undefined => {
  while (waiting.at(-1)?.completed) waiting.pop();
  return waiting.findLast(
    ({ triggered, completed }) => completed === undefined && triggered !== undefined && !isOfOther(triggered),
  );
};

/** A fact without a correlation belongs to the only one there is. Where there are several, it belongs to none. */
const onlyCorrelationIn = (facts: readonly Fact[]): string => {
  const named = new Set(facts.flatMap(({ links }) => links.correlation ?? []));
  const [only] = named;
  return named.size === 1 && only !== undefined ? only : "";
};

const NO_COMPLETIONS: ReadonlyMap<Fact, string> = new Map();

/** By completion: the decision whose review it closed. */
export const decisionsByCompletion = (reviews: readonly Review[]): ReadonlyMap<Fact, string> => {
  if (reviews.length === 0) return NO_COMPLETIONS;
  const found = new Map<Fact, string>();
  for (const { completed, decisionId } of reviews)
    if (completed && decisionId !== undefined) found.set(completed, decisionId);
  return found;
};

const NONE: readonly never[] = [];
