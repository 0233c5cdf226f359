/**
 * Facts by person and by asset, for a caller that asks for the closest ones (`likest` in persons.ts) of very many facts: a case may have thousands, and to
 * look through all of them for each one would take quadratic time.
 */
import { countWhile } from "./count-while.ts";
import type { Fact } from "./fact.ts";

export interface AlikeFacts {
  /** What `likest` would find, in order. With `isOnlyOfOwn`, what is about another person is left out. */
  likest(fact: Fact, isOnlyOfOwn: boolean): readonly Fact[];
  /** The last of what `likest` would find among the facts until then. */
  lastUntilThen(fact: Fact, isOnlyOfOwn: boolean): Fact | undefined;
}

interface ByAsset {
  readonly all: Fact[];
  readonly byAsset: Map<string, Fact[]>;
}

const NONE: ByAsset = { all: [], byAsset: new Map() };
const NO_FACTS: readonly Fact[] = [];

/** The facts must be in order. */
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
  /** Where nothing is about the person: what names no person, or everything. */
  const others = (isOnlyOfOwn: boolean): ByAsset => (isOnlyOfOwn ? ofPerson(undefined) : ofAll);
  return {
    likest: ({ subject, asset }, isOnlyOfOwn) => {
      const own = subject === undefined ? NONE : ofPerson(subject);
      const { all, byAsset } = own.all.length > 0 ? own : others(isOnlyOfOwn);
      return byAsset.get(asset) ?? all;
    },
    lastUntilThen: ({ subject, asset, at }, isOnlyOfOwn) => {
      const lastIn = ({ all, byAsset }: ByAsset): Fact | undefined =>
        lastAt(byAsset.get(asset) ?? NO_FACTS, at) ?? lastAt(all, at);
      const own = subject === undefined ? undefined : lastIn(ofPerson(subject));
      return own ?? lastIn(others(isOnlyOfOwn));
    },
  };
};

const byAssetOf = (facts: readonly Fact[]): ByAsset => ({
  all: [...facts],
  byAsset: Map.groupBy(facts, ({ asset }) => asset),
});

/** The last fact at or before this time. The facts are in order. */
export const lastAt = (facts: readonly Fact[], at: string): Fact | undefined =>
  facts[countWhile(facts, (fact) => fact.at <= at) - 1];

/** The first fact at or after this time. The facts are in order. */
export const firstFrom = (facts: readonly Fact[], at: string): Fact | undefined =>
  facts[countWhile(facts, (fact) => fact.at < at)];
