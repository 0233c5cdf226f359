/** To which decisions of a case a fact belongs that names none, and no objection to one. */
import { DECISION_MADE, type Fact, isNoticeShown } from "./fact.ts";

export interface DecisionFinder {
  /** One of the same correlation, or of the case: the last until then, of a notice the first from then on. Where there is none on that side, the nearest. */
  readonly nearest: (fact: Fact) => string | undefined;
  /** A notice is shown beforehand, and for all that is decided from then on in the same correlation, or in the case; where nothing is, for the nearest. */
  readonly told: (notice: Fact) => readonly string[];
}

/** What belongs to a decision even where it only shares the correlation with it. */
const ABOUT_DECISIONS =
  /^(decision|objection|transparency)\.|^(objection|human_review|disclosure_|watermark_)/;

export const decisionFinder = (facts: readonly Fact[]): DecisionFinder => {
  const made: Fact[] = [];
  for (const fact of facts) if (fact.type === DECISION_MADE) made.push(fact);
  const onlyNamed = onlyNamedIn(facts);
  // Of one there is nothing to choose.
  const hasChoice = made.length > 1;
  const near = hasChoice ? inCorrelation(made) : () => made;
  const find = hasChoice ? nearestOf(near) : () => made[0];
  const follow = hasChoice ? followingOf(made, near) : () => NONE;
  const nearest = (fact: Fact): string | undefined =>
    ABOUT_DECISIONS.test(fact.type) ? (find(fact)?.links.decision ?? onlyNamed) : undefined;
  return {
    nearest,
    told: (notice) => {
      const following = follow(notice);
      if (following.length > 0) return following;
      const id = nearest(notice);
      return id === undefined ? NONE : [id];
    },
  };
};

const NONE: readonly never[] = [];

/** The decision that is named, if no other one is. */
const onlyNamedIn = (facts: readonly Fact[]): string | undefined => {
  let only: string | undefined;
  for (const { links } of facts) {
    if (links.decision === undefined) continue;
    if (only !== undefined && only !== links.decision) return undefined;
    only = links.decision;
  }
  return only;
};

/** What was made in the correlation of a fact; where nothing was, in the case. */
const inCorrelation = (made: readonly Fact[]): ((fact: Fact) => readonly Fact[]) => {
  const byCorrelation = Map.groupBy(made, ({ links }) => links.correlation);
  return ({ links: { correlation } }) =>
    (correlation === undefined ? undefined : byCorrelation.get(correlation)) ?? made;
};

const nearestOf =
  (madeNear: (fact: Fact) => readonly Fact[]) =>
  (fact: Fact): Fact | undefined => {
    const near = madeNear(fact);
    const after = near.find((each) => each.at >= fact.at);
    const before = near.findLast((each) => each.at <= fact.at);
    return isNoticeShown(fact) ? (after ?? before) : (before ?? after);
  };

/** Of several facts that made a decision the first counts, whichever of them names the correlation. */
const followingOf = (made: readonly Fact[], madeNear: (fact: Fact) => readonly Fact[]) => {
  const firsts = new Map<string | undefined, Fact>();
  for (const fact of made) if (!firsts.has(fact.links.decision)) firsts.set(fact.links.decision, fact);
  const found = new Map<readonly Fact[], ReadonlySet<string | undefined>>();
  const decisionsIn = (near: readonly Fact[]): ReadonlySet<string | undefined> => {
    const known = found.get(near) ?? new Set(near.map(({ links }) => links.decision));
    found.set(near, known);
    return known;
  };
  return (notice: Fact): readonly string[] => {
    const following: string[] = [];
    for (const id of decisionsIn(madeNear(notice))) {
      const first = firsts.get(id);
      if (id !== undefined && first !== undefined && first.at >= notice.at) following.push(id);
    }
    return following;
  };
};
