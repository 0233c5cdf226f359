/** What answers an objection of which no decision is known. Pure. */
import { answersUndecided, mayAnswerOne } from "../cases/answers.ts";
import type { Case, Decision } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { isExplanation, isReversal, type Objection } from "../cases/objection.ts";

/** Of a decision, or of what may be in its place. */
export type Answers = Pick<Decision, "made" | "explanations" | "reversals" | "reviews" | "facts">;

/** Where no decision is named, what answers in the same case and is about no other objection, nor another person. */
export const undecidedIn = (parts: Pick<Case, "facts" | "reviews" | "objections">) => {
  const answers = answersUndecided(parts);
  const factsAbout = aboutObjections(
    tellingOf(parts.facts.filter(({ links }) => links.decision === undefined)),
    ({ links }) => links.objection,
  );
  const reviewsAbout = aboutObjections(
    parts.reviews.filter(({ decisionId }) => decisionId === undefined),
    ({ completed, triggered }) => completed?.links.objection ?? triggered?.links.objection,
  );
  return (objection: Objection): Answers => {
    const named = factsAbout(objection).filter((fact) => answers(fact, objection));
    return {
      made: undefined,
      explanations: named.filter(isExplanation),
      reversals: named.filter(isReversal),
      reviews: reviewsAbout(objection).filter(
        ({ completed }) => completed === undefined || answers(completed, objection),
      ),
      facts: named,
    };
  };
};

/** Without what is about every objection and only names the same legal bases again. */
const tellingOf = (facts: readonly Fact[]): readonly Fact[] => {
  const known = new Set<string>();
  return facts.filter((fact) => {
    const { links, bases = NONE } = fact;
    if (links.objection !== undefined || mayAnswerOne(fact)) return true;
    const isNews = bases.some((basis) => !known.has(basis));
    for (const basis of bases) known.add(basis);
    return isNews;
  });
};

/** What may be about an objection, in order. By what they name: a case may have thousands of objections, and as many answers. */
const aboutObjections = <Thing>(
  things: readonly Thing[],
  named: (thing: Thing) => string | undefined,
): ((objection: Objection) => readonly Thing[]) => {
  const placed = things.map((thing, place) => ({ thing, place, name: named(thing) }));
  const groups = Map.groupBy(placed, ({ name }) => name);
  const unnamed = groups.get(undefined) ?? NONE;
  return ({ id }) => inPlace(unnamed, groups.get(id) ?? NONE).map(({ thing }) => thing);
};

interface Placed {
  readonly place: number;
}

/** Both are in order already: to sort them for each objection would take longest of all. */
const inPlace = <Each extends Placed>(one: readonly Each[], other: readonly Each[]): readonly Each[] => {
  if (one.length === 0 || other.length === 0) return one.length === 0 ? other : one;
  const all: Each[] = [];
  let next = 0;
  for (const each of one) {
    for (let before = other[next]; before && before.place < each.place; before = other[next]) {
      all.push(before);
      next++;
    }
    all.push(each);
  }
  return all.concat(other.slice(next));
};

const NONE: readonly never[] = [];
