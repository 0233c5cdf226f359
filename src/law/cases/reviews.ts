/** Human reviews of a case. Pure, and a function of the set of facts. */
import type { Fact } from "./fact.ts";
import type { Link, Links, NoLink } from "./links.ts";

export interface Review {
  /** The event that triggered it. Of an orphan, which nothing triggered, the event that completed it. */
  readonly id: string;
  readonly decisionId: string | undefined;
  /** The rule that linked it to its decision. */
  readonly linkedBy: Link["by"] | undefined;
  /** The objection that it is about, where no decision is known. */
  readonly objectionId: string | undefined;
  readonly triggered: Fact | undefined;
  /** That one, and those that came while it was open. */
  readonly triggers: readonly Fact[];
  readonly completed: Fact | undefined;
}

export const isReviewTriggered = ({ type }: Pick<Fact, "type">): boolean =>
  type === "decision.human_review_triggered";
export const isReviewCompleted = ({ type }: Pick<Fact, "type">): boolean =>
  type === "decision.human_review_completed" || type === "human_review";

const NONE: readonly never[] = [];

/**
 * A review is identified by its decision, else by its objection, else by its correlation (DOMAIN 2b), and each of these has one review at a time. A trigger
 * opens a review unless one is open, the next completion closes it, and a completion without an open review is an orphan.
 */
export const reviewsOf = (
  facts: readonly Fact[],
  { decisionOf, soleObjectionOf }: Links,
): readonly Review[] => {
  const ofReviews = facts.filter((fact) => isReviewTriggered(fact) || isReviewCompleted(fact));
  if (ofReviews.length === 0) return NONE;
  // At equal times the trigger comes first, whatever the ids.
  ofReviews.sort((one, other) =>
    one.at === other.at ? Number(isReviewCompleted(one)) - Number(isReviewCompleted(other)) : 0,
  );
  const reviewed = new Map<string, Growing[]>();
  for (const fact of ofReviews) {
    const decision: Link | NoLink | undefined = decisionOf(fact);
    const objectionId =
      decision?.id === undefined ? (fact.links.objection ?? soleObjectionOf(fact)) : undefined;
    const key = identityOf(fact, decision?.id, objectionId);
    const reviews = reviewed.get(key) ?? [];
    reviewed.set(key, reviews);
    const last = reviews.at(-1);
    const open = last?.completed === undefined ? last : undefined;
    const isCompletion = isReviewCompleted(fact);
    if (open) {
      if (isCompletion) open.completed = fact;
      else open.triggers.push(fact);
      continue;
    }
    reviews.push({
      id: fact.id,
      decisionId: decision?.id,
      linkedBy: decision?.id === undefined ? undefined : decision.by,
      objectionId,
      triggered: isCompletion ? undefined : fact,
      triggers: isCompletion ? [] : [fact],
      completed: isCompletion ? fact : undefined,
    });
  }
  return [...reviewed.values()].flat();
};

type Growing = { -readonly [Name in keyof Review]: Review[Name] } & { readonly triggers: Fact[] };

const identityOf = ({ id, links }: Fact, decision: string | undefined, objection: string | undefined) => {
  if (decision !== undefined) return `decision:${decision}`;
  if (objection !== undefined) return `objection:${objection}`;
  return links.correlation === undefined ? `event:${id}` : `correlation:${links.correlation}`;
};
