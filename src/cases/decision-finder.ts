/** Finds the decisions that a fact belongs to, where it names neither a decision nor an objection to one. */
import { CASE_NEIGHBOURS_MAX } from "../limits.ts";
import { type AlikeFacts, alikeFacts, firstFrom, lastAt } from "./alike-facts.ts";
import { DECISION_MADE, type Fact, inOrder, isNoticeShown } from "./fact.ts";
import { lazily } from "./lazily.ts";
import { mayBeOther, type OtherPersons } from "./persons.ts";

export interface DecisionFinder {
  /**
   * The decision made last until then. For a notice, the first one made from then on. Where there is none on that side, the nearest on the other. It is
   * looked for in the correlation of the fact, or else in the case; decisions about the same person, and of these those of the same asset, are preferred.
   */
  readonly nearest: (fact: Fact) => string | undefined;
  /**
   * A notice is shown beforehand. So it is for all decisions made from then on in the same correlation, or else in the case, except those about other
   * persons. Where there are none, or more than CASE_NEIGHBOURS_MAX, it is for the nearest one.
   */
  readonly told: (notice: Fact) => readonly string[];
}

/** Types of events that belong to a decision even if they only share its correlation. */
const ABOUT_DECISIONS =
  /^(decision|objection|transparency)\.|^(objection|human_review|disclosure_|watermark_)/;

/** Types of events that follow a decision and refer back to it (DOMAIN 2b). Others, such as a label, may also come before it. */
const REFERS_BACK = /^(decision|objection)\.|^(objection|human_review)$/;

export const decisionFinder = (facts: readonly Fact[], isOther: OtherPersons): DecisionFinder => {
  const only = onlyNamedIn(facts);
  return only === undefined ? finderAmong(facts, isOther) : finderOf(only);
};

/** With only one decision there is nothing to choose. */
const finderOf = (only: string): DecisionFinder => ({
  nearest: (fact) => (isAboutDecision(fact) ? only : undefined),
  told: (notice) => (isAboutDecision(notice) ? [only] : NONE),
});

const finderAmong = (facts: readonly Fact[], isOther: OtherPersons): DecisionFinder => {
  const near = inCorrelation(facts);
  const find = nearestOf(near, isOther);
  const follow = followingOf(facts, near, isOther);
  const nearest = (fact: Fact): string | undefined =>
    isAboutDecision(fact) ? find(fact)?.links.decision : undefined;
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

const isAboutDecision = ({ type }: Fact): boolean => ABOUT_DECISIONS.test(type);

/** The named decision, if only one is named. */
const onlyNamedIn = (facts: readonly Fact[]): string | undefined => {
  let only: string | undefined;
  for (const { links } of facts) {
    if (links.decision === undefined) continue;
    if (only !== undefined && only !== links.decision) return undefined;
    only = links.decision;
  }
  return only;
};

const isMade = ({ type }: Fact): boolean => type === DECISION_MADE;
const correlationOf = ({ links }: Fact): string | undefined => links.correlation;
const decisionOf = ({ links }: Fact): string | undefined => links.decision;

/**
 * What was made in the correlation of a fact. A complaint may have a correlation of its own, in which nothing is made. Then it is what made the decisions
 * that are named there or, if only one is, what names that one. Where that is nothing either, it is what was made in the case.
 */
const inCorrelation = (facts: readonly Fact[]): ((fact: Fact) => readonly Fact[]) => {
  const all = lazily(() => {
    const made = facts.filter(isMade);
    return { made, near: new Map<string | undefined, readonly Fact[]>(Map.groupBy(made, correlationOf)) };
  });
  // Worked out once for all correlations: there may be as many of them as facts.
  const naming = lazily(() =>
    Map.groupBy(
      facts.filter((fact) => decisionOf(fact) !== undefined),
      correlationOf,
    ),
  );
  const makings = lazily(() => Map.groupBy(all().made, decisionOf));
  const namedIn = (correlation: string): readonly Fact[] =>
    namedBy(naming().get(correlation) ?? NONE, (decision) => makings().get(decision) ?? NONE);
  return ({ links: { correlation } }) => {
    const { made, near } = all();
    const found = correlation === undefined ? made : (near.get(correlation) ?? namedIn(correlation));
    near.set(correlation, found);
    return found.length > 0 ? found : made;
  };
};

/** If only one decision is named in a correlation, the facts that name it. If several are, the facts that made them. */
const namedBy = (
  naming: readonly Fact[],
  madeOf: (decision: string | undefined) => readonly Fact[],
): readonly Fact[] => {
  const named = new Set(naming.map(decisionOf));
  return named.size === 1 ? naming : [...named].flatMap(madeOf).sort(inOrder);
};

const nearestOf = (near: (fact: Fact) => readonly Fact[], isOther: OtherPersons) => {
  const found = new Map<readonly Fact[], AlikeFacts>();
  const alikeOf = (those: readonly Fact[]): AlikeFacts => {
    const known = found.get(those) ?? alikeFacts(those);
    found.set(those, known);
    return known;
  };
  return (fact: Fact): Fact | undefined => {
    const alike = alikeOf(near(fact));
    const isOnlyOfOwn = mayBeOther(isOther(fact));
    // A decision that is made only later takes nothing from one before, even if it is more alike.
    const referredTo = REFERS_BACK.test(fact.type) ? alike.lastUntilThen(fact, isOnlyOfOwn) : undefined;
    if (referredTo) return referredTo;
    const those = alike.likest(fact, isOnlyOfOwn);
    const [after, before] = [firstFrom(those, fact.at), lastAt(those, fact.at)];
    return isNoticeShown(fact) ? (after ?? before) : (before ?? after);
  };
};

/** Where several facts make a decision, the first counts, whichever of them names the correlation. */
const followingOf = (
  facts: readonly Fact[],
  near: (fact: Fact) => readonly Fact[],
  isOther: OtherPersons,
) => {
  const firsts = lazily(() => {
    const found = new Map<string | undefined, Fact>();
    for (const fact of facts)
      if (isMade(fact) && !found.has(fact.links.decision)) found.set(fact.links.decision, fact);
    return found;
  });
  const found = new Map<readonly Fact[], ReadonlySet<Fact>>();
  const decisionsIn = (those: readonly Fact[]): ReadonlySet<Fact> => {
    const known =
      found.get(those) ?? new Set(those.flatMap(({ links }) => firsts().get(links.decision) ?? NONE));
    found.set(those, known);
    return known;
  };
  return (notice: Fact): readonly string[] => {
    const decisions = decisionsIn(near(notice));
    // A case that is one long chain may have any number of notices and of decisions. All pairs of both would fill the memory (18,000 events took 1.5 GB, measured).
    if (decisions.size > CASE_NEIGHBOURS_MAX) return NONE;
    // The notice is for the person that it names, whichever system showed it.
    const isOfOther = isOther(notice);
    return [...decisions].flatMap((first) =>
      isOfOther(first) || first.at < notice.at ? NONE : (first.links.decision ?? NONE),
    );
  };
};
