/** To which decisions of a case a fact belongs that names none, and no objection to one. */
import { CASE_NEIGHBOURS_MAX } from "../limits.ts";
import { type AlikeFacts, alikeFacts, firstFrom, lastAt } from "./alike-facts.ts";
import { DECISION_MADE, type Fact, inOrder, isNoticeShown } from "./fact.ts";
import { lazily } from "./lazily.ts";
import { mayBeOther, type OtherPersons } from "./persons.ts";

export interface DecisionFinder {
  /** One of the same correlation, or of the case, about the same person and of the same asset where one is: the last until then, of a notice the first from then on. Where there is none on that side, the nearest. */
  readonly nearest: (fact: Fact) => string | undefined;
  /** A notice is shown beforehand, and for all that is decided from then on in the same correlation, or in the case, but not about other persons; where nothing is, or more than CASE_NEIGHBOURS_MAX are, for the nearest. */
  readonly told: (notice: Fact) => readonly string[];
}

/** What belongs to a decision even where it only shares the correlation with it. */
const ABOUT_DECISIONS =
  /^(decision|objection|transparency)\.|^(objection|human_review|disclosure_|watermark_)/;

export const decisionFinder = (facts: readonly Fact[], isOther: OtherPersons): DecisionFinder => {
  const only = onlyNamedIn(facts);
  return only === undefined ? finderAmong(facts, isOther) : finderOf(only);
};

/** Of one there is nothing to choose. */
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

const isMade = ({ type }: Fact): boolean => type === DECISION_MADE;
const correlationOf = ({ links }: Fact): string | undefined => links.correlation;
const decisionOf = ({ links }: Fact): string | undefined => links.decision;

/**
 * What was made in the correlation of a fact. A complaint may have one of its own, in which nothing is made: there it is what was made of the decisions that are named, or the only one that is.
 * Where that is nothing either, what was made in the case.
 */
const inCorrelation = (facts: readonly Fact[]): ((fact: Fact) => readonly Fact[]) => {
  const all = lazily(() => {
    const made = facts.filter(isMade);
    return { made, near: new Map<string | undefined, readonly Fact[]>(Map.groupBy(made, correlationOf)) };
  });
  // Once for all correlations: there may be as many as facts.
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

/** What names the one decision that is named in a correlation, or made those of several that were made. */
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
    const those = alikeOf(near(fact)).likest(fact, mayBeOther(isOther(fact)));
    const [after, before] = [firstFrom(those, fact.at), lastAt(those, fact.at)];
    return isNoticeShown(fact) ? (after ?? before) : (before ?? after);
  };
};

/** Of several facts that made a decision the first counts, whichever of them names the correlation. */
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
    // A case that hangs together one by one may have any number of both: all of them with all would fill the memory (18,000 events took 1.5 GB, measured).
    if (decisions.size > CASE_NEIGHBOURS_MAX) return NONE;
    // Whoever showed it, it is for its person.
    const isOfOther = isOther(notice);
    return [...decisions].flatMap((first) =>
      isOfOther(first) || first.at < notice.at ? NONE : (first.links.decision ?? NONE),
    );
  };
};
