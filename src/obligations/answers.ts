/**
 * What answers an objection: what belongs to its decision or, where its decision is not known, what else in the case could be an answer. Found by time and by
 * person, as a case may have thousands of objections and answers. Pure.
 */
import { firstFrom } from "../cases/alike-facts.ts";
import { personOf, personsAnswered } from "../cases/answers.ts";
import { type Case, type Decision, decisionsById } from "../cases/case.ts";
import { basesOf, earlier, type Fact, inOrder } from "../cases/fact.ts";
import { isExplanation, isReversal, type Objection } from "../cases/objection.ts";
import type { Review } from "../cases/reviews.ts";
import { type NamedBases, namedBases } from "./deadlines.ts";

export interface Answers {
  readonly made: Fact | undefined;
  /** The legal bases that any of these events names. */
  readonly named: NamedBases;
  /** The first explanation from then on that names no other objection. */
  explained(at: string): Fact | undefined;
  /** The first event from then on by which the decision was reversed or a person decided again. */
  redone(at: string): Fact | undefined;
}

const NONE: readonly never[] = [];

const firstInOrder = (facts: readonly (Fact | undefined)[]): Fact | undefined =>
  facts.reduce(
    (first, fact) => (first && fact ? (inOrder(fact, first) < 0 ? fact : first) : (first ?? fact)),
    undefined,
  );

/** An explanation that names no objection may answer any. The explanations are in order. */
export const explainedBy = (explanations: readonly Fact[]) => {
  if (explanations.length === 0) return () => undefined;
  const about = Map.groupBy(explanations, ({ links }) => links.objection);
  return (objection: Pick<Objection, "id">, at: string): Fact | undefined =>
    firstInOrder([
      firstFrom(about.get(undefined) ?? NONE, at),
      firstFrom(about.get(objection.id) ?? NONE, at),
    ]);
};

export const basesNamedIn = (facts: readonly Fact[]): NamedBases => namedBases(basesOf(facts));

export const answersIn = (
  parts: Pick<Case, "facts" | "decisions" | "objections" | "reviews">,
): ((objection: Objection) => Answers) => {
  const byId = decisionsById(parts.decisions);
  const decided = new Map<Decision, AnswersTo>();
  let undecided: AnswersTo | undefined;
  return (objection) => {
    const decision = byId.get(objection.decisionId);
    if (decision === undefined) {
      undecided ??= undecidedIn(parts);
      return undecided(objection);
    }
    const answersTo = decided.get(decision) ?? decidedIn(decision);
    decided.set(decision, answersTo);
    return answersTo(objection);
  };
};

type AnswersTo = (objection: Objection) => Answers;

/** Reviews of one decision follow each other, so their completions are in order. */
const decidedIn = ({ made, explanations, reversals, reviews, bases }: Decision): AnswersTo => {
  const explained = explainedBy(explanations);
  const completions = reviews.flatMap(({ completed }) => completed ?? NONE);
  const named = namedBases(bases);
  return (objection) => ({
    made,
    named,
    explained: (at) => explained(objection, at),
    redone: (at) => earlier(firstFrom(reversals, at), firstFrom(completions, at)),
  });
};

/** Where no decision is named: what answers in the same case, and is about no other objection and no other person. */
const undecidedIn = (parts: Pick<Case, "facts" | "objections" | "reviews">): AnswersTo => {
  const persons = personsAnswered(parts);
  const about = (fact: Fact, objection = fact.links.objection): string => {
    if (objection !== undefined) return aboutObjection(objection);
    return persons.has(fact) ? aboutPerson(persons.get(fact)) : ABOUT_ALL;
  };
  const facts = Map.groupBy(
    parts.facts.filter(({ links }) => links.decision === undefined),
    (fact) => about(fact),
  );
  const [explanations, reversals] = [isExplanation, isReversal].map((is) => selected(facts, is));
  const completions = completionsIn(parts.reviews, about);
  const named = new Map([...facts].map(([key, those]) => [key, basesNamedIn(those)]));
  return (objection) => {
    const keys = [ABOUT_ALL, aboutObjection(objection.id), aboutPerson(personOf(objection))];
    const firstOf = (those: Groups | undefined, at: string): Fact | undefined =>
      firstInOrder(keys.map((key) => firstFrom(those?.get(key) ?? NONE, at)));
    return {
      made: undefined,
      named: keys.flatMap((key) => named.get(key) ?? NONE),
      explained: (at) => firstOf(explanations, at),
      redone: (at) => earlier(firstOf(reversals, at), completions(keys, at)),
    };
  };
};

type Groups = ReadonlyMap<string, readonly Fact[]>;

const ABOUT_ALL = "";
const aboutObjection = (id: string): string => `objection:${id}`;
const aboutPerson = (person: string | undefined): string => `person:${person ?? ""}`;

const selected = (groups: Groups, is: (fact: Fact) => boolean): Groups =>
  new Map([...groups].map(([key, facts]) => [key, facts.filter(is)]));

/** The first completion from a time on. At equal times, the one whose review stands first. */
const completionsIn = (
  reviews: readonly Review[],
  about: (fact: Fact, objection: string | undefined) => string,
) => {
  const places = new Map<Fact, number>();
  const keys = new Map<Fact, string>();
  for (const { decisionId, triggered, completed } of reviews) {
    if (decisionId !== undefined || completed === undefined) continue;
    places.set(completed, places.size);
    keys.set(completed, about(completed, completed.links.objection ?? triggered?.links.objection));
  }
  const ordered = [...places.keys()].sort((one, other) =>
    one.at < other.at ? -1 : Number(one.at > other.at),
  );
  const groups = Map.groupBy(ordered, (fact) => keys.get(fact));
  const place = (fact: Fact): number => places.get(fact) ?? 0;
  return (asked: readonly string[], at: string): Fact | undefined =>
    earlier(
      ...asked
        .flatMap((key) => firstFrom(groups.get(key) ?? NONE, at) ?? NONE)
        .sort((one, other) => place(one) - place(other)),
    );
};
