/** For which decision an explanation or a reversal is that names none. Pure, and a function of the set of facts. */
import type { DecisionFinder } from "./decision-finder.ts";
import { type Fact, inOrder } from "./fact.ts";
import {
  asksForExplanation,
  isExplanation,
  isReversal,
  type Objection,
  openingsOf,
  reasonedDenial,
} from "./objection.ts";
import { likest, type OtherPersons } from "./persons.ts";
import { isReviewCompleted, type Review } from "./reviews.ts";

interface Parts {
  readonly facts: readonly Fact[];
  readonly objections: readonly Objection[];
  readonly named: (fact: Fact) => string | undefined;
  readonly nearest: DecisionFinder["nearest"];
  readonly isOther: OtherPersons;
}

const NO_ANSWERS: ReadonlyMap<Fact, string> = new Map();

/**
 * Of those decisions about which somebody in the same correlation asked for as much until then and waits, the nearest one, or else the one that was asked about last. Who asks for no explanation
 * objects to the decision itself.
 */
export const decisionsByAnswer = (parts: Parts): ReadonlyMap<Fact, string> => {
  const { facts } = parts;
  if (parts.objections.length === 0) return NO_ANSWERS;
  const objections = parts.objections.flatMap(openingsOf);
  const found = new Map<Fact, string>();
  const find = (isAnswer: (fact: Fact) => boolean, requests: readonly Objection[]): void => {
    if (requests.length > 0) findAnswered({ ...parts, found, answers: facts.filter(isAnswer), requests });
  };
  find(isExplanation, objections.filter(asksForExplanation));
  find(
    isReversal,
    objections.filter((objection) => !asksForExplanation(objection)),
  );
  return found;
};

const findAnswered = (
  parts: Pick<Parts, "named" | "nearest" | "isOther"> & {
    readonly answers: readonly Fact[];
    readonly requests: readonly Objection[];
    readonly found: Map<Fact, string>;
  },
): void => {
  const { answers, requests, named, nearest, isOther, found } = parts;
  const answered = new Set<Objection>();
  // Most answers name their decision, and only what asked about that is looked at: a case may have thousands of both.
  const byDecision = Map.groupBy(requests, (request) => request.decisionId);
  for (const fact of answers) {
    const isOpen = (request: Objection): boolean => !answered.has(request) && isOpenAt(request, fact);
    let decisionId = named(fact);
    if (decisionId === undefined) {
      const near = nearest(fact);
      const isOfOther = isOther(fact);
      const asked = likest(
        fact,
        requests.filter(
          (request) =>
            isOpen(request) && sharesCorrelation(request, fact) && !isOfOther(request.received ?? fact),
        ),
        ({ received = fact }) => received,
      );
      const meant = asked.find((request) => request.decisionId === near) ?? lastReceived(asked);
      decisionId = meant?.decisionId ?? near;
      if (decisionId !== undefined) found.set(fact, decisionId);
    }
    const { objection } = fact.links;
    for (const request of byDecision.get(decisionId) ?? [])
      if (isOpen(request) && (objection ?? request.id) === request.id) answered.add(request);
  }
};

const isOpenAt = (request: Objection, { at }: Fact): boolean => {
  const { received, decisionId } = request;
  if (received === undefined || decisionId === undefined || received.at > at) return false;
  const denied = reasonedDenial(request);
  return denied === undefined || denied.at > at;
};

const sharesCorrelation = ({ facts }: Objection, { links: { correlation } }: Fact): boolean =>
  correlation !== undefined && facts.some(({ links }) => links.correlation === correlation);

const lastReceived = (objections: readonly Objection[]): Objection | undefined => {
  let last: Objection | undefined;
  for (const objection of objections)
    if (!last?.received || (objection.received && inOrder(last.received, objection.received) < 0))
      last = objection;
  return last;
};

/** Of several objections; anything else that names none is about all of them. */
export const mayAnswerOne = (fact: Fact): boolean =>
  isExplanation(fact) || isReversal(fact) || isReviewCompleted(fact);

/** Whether what names neither a decision nor an objection answers an objection of which no decision is known. */
export type AnswersUndecided = (fact: Fact, objection: Objection) => boolean;

const ALWAYS: AnswersUndecided = () => true;

/**
 * Of several persons one is answered: the person that the answer is about, or else who asked last until then and waits. Who asks for an explanation waits for that, and who
 * objects for the decision to be looked at again.
 */
export const answersUndecided = ({
  facts,
  objections,
  reviews,
}: Pick<Parts, "facts" | "objections"> & { readonly reviews: readonly Review[] }): AnswersUndecided => {
  const undecided = objections.filter(({ decisionId }) => decisionId === undefined).flatMap(openingsOf);
  if (new Set(undecided.flatMap((objection) => personOf(objection) ?? [])).size < 2) return ALWAYS;
  const answered = new Set<Objection>();
  const persons = new Map<Fact, string | undefined>();
  const triggers = new Map(reviews.map(({ completed, triggered }) => [completed, triggered]));
  for (const fact of facts) {
    if (!mayAnswerOne(fact)) continue;
    // What triggers a review may say of whom and of which objection it is.
    const triggered = triggers.get(fact);
    const said = [fact, ...(triggered ? [triggered] : [])];
    if (said.some(({ links }) => links.decision !== undefined || links.objection !== undefined)) continue;
    const waiting = undecided.filter(
      (request) =>
        asksForExplanation(request) === isExplanation(fact) &&
        request.received !== undefined &&
        request.received.at <= fact.at &&
        !answered.has(request),
    );
    const last = lastReceived(waiting);
    const person = fact.subject ?? triggered?.subject ?? (last && personOf(last));
    for (const request of waiting) if (personOf(request) === person) answered.add(request);
    persons.set(fact, person);
  }
  return (fact, objection) => !persons.has(fact) || persons.get(fact) === personOf(objection);
};

const personOf = ({ facts }: Objection): string | undefined =>
  facts.find(({ subject }) => subject !== undefined)?.subject;
