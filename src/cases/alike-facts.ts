/**
 * Facts by whom they are about and of which asset, for who asks many of them for the likest (persons.ts): a case may have very many, and one look through all of
 * them for each would grow with their square.
 */
import { countWhile } from "./count-while.ts";
import type { Fact } from "./fact.ts";

export interface AlikeFacts {
  /** As `likest` finds them, in order; of those that are not about another person where `isOnlyOfOwn` is set. */
  likest(fact: Fact, isOnlyOfOwn: boolean): readonly Fact[];
}

interface ByAsset {
  readonly all: Fact[];
  readonly byAsset: Map<string, Fact[]>;
}

const NONE: ByAsset = { all: [], byAsset: new Map() };

/** The facts in order. */
export const alikeFacts = (facts: readonly Fact[]): AlikeFacts => {
  const ofAll = byAssetOf(facts);
  let persons: Map<string | undefined, ByAsset> | undefined;
  const ofPerson = (subject: string | undefined): ByAsset => {
    if (persons === undefined) {
      persons = new Map();
      for (const [of, theirs] of Map.groupBy(facts, (fact) => fact.subject))
        persons.set(of, byAssetOf(theirs));
    }
    return persons.get(subject) ?? NONE;
  };
  /** Where none is of the person: what is left of them. */
  const others = (isOnlyOfOwn: boolean): ByAsset => (isOnlyOfOwn ? ofPerson(undefined) : ofAll);
  return {
    likest: ({ subject, asset }, isOnlyOfOwn) => {
      const own = subject === undefined ? NONE : ofPerson(subject);
      const { all, byAsset } = own.all.length > 0 ? own : others(isOnlyOfOwn);
      return byAsset.get(asset) ?? all;
    },
  };
};

const byAssetOf = (facts: readonly Fact[]): ByAsset => ({
  all: [...facts],
  byAsset: Map.groupBy(facts, ({ asset }) => asset),
});

/** The last until then, of facts in order. */
export const lastAt = (facts: readonly Fact[], at: string): Fact | undefined =>
  facts[countWhile(facts, (fact) => fact.at <= at) - 1];

/** The first from then on. */
export const firstFrom = (facts: readonly Fact[], at: string): Fact | undefined =>
  facts[countWhile(facts, (fact) => fact.at < at)];
