/** Finds the decision that an explanation or a reversal is for, where the event names none. Pure, and a function of the set of facts. */
import type { DecisionFinder } from "./decision-finder.ts";
import { type Fact, inOrder } from "./fact.ts";
import {
  asksForExplanation,
  isExplanation,
  isReversal,
  type Objection,
  type Opening,
  openingsOf,
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
const NONE: readonly never[] = [];

/**
 * Among the decisions about which somebody in the same correlation has asked for such an answer and still waits: the nearest one, if it is among them, or
 * else the one that was asked about last. A request for an explanation waits for that. Any other objection is one to the decision itself, and waits for a
 * reversal.
 */
export const decisionsByAnswer = (parts: Parts): ReadonlyMap<Fact, string> => {
  const { facts } = parts;
  if (parts.objections.length === 0) return NO_ANSWERS;
  const objections = parts.objections.flatMap(openingsOf);
  const found = new Map<Fact, string>();
  const find = (isAnswer: (fact: Fact) => boolean, requests: readonly Opening[]): void => {
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
    readonly requests: readonly Opening[];
    readonly found: Map<Fact, string>;
  },
): void => {
  const { answers, named, nearest, isOther, found } = parts;
  // For each answer, only requests about its decision or in its correlation are looked at: a case may have thousands of both.
  const requests = parts.requests.flatMap(requestFrom);
  const byDecision = Map.groupBy(requests, ({ decisionId }) => decisionId);
  const ofDecision = new Map([...byDecision].map(([id, those]) => [id, requestsOf(those)]));
  const inCorrelation = byCorrelation(requests);
  for (const fact of answers) {
    const { at, links } = fact;
    let decisionId = named(fact);
    if (decisionId === undefined) {
      const near = nearest(fact);
      const isOfOther = isOther(fact);
      const those = links.correlation === undefined ? NONE : (inCorrelation.get(links.correlation) ?? NONE);
      const asked = likest(
        fact,
        those.filter((request) => isOpenAt(request, at) && !isOfOther(request.received)),
        ({ received }) => received,
      );
      const isNear = asked.some((request) => request.decisionId === near);
      decisionId = isNear ? near : (lastReceived(asked)?.decisionId ?? near);
      if (decisionId !== undefined) found.set(fact, decisionId);
    }
    if (decisionId !== undefined) ofDecision.get(decisionId)?.answer(links.objection, at);
  }
};

/** A request of somebody about a decision. */
interface Request extends Pick<Objection, "id" | "facts"> {
  readonly decisionId: string;
  readonly received: Fact;
  readonly endedAt: string | undefined;
  isAnswered: boolean;
}

const requestFrom = ({ id, facts, received, decisionId, ended }: Opening): readonly Request[] => {
  if (received === undefined || decisionId === undefined) return NONE;
  return [{ id, facts, received, decisionId, endedAt: ended?.at, isAnswered: false }];
};

const isOpenAt = ({ received, endedAt, isAnswered }: Request, at: string): boolean =>
  !isAnswered && received.at <= at && (endedAt === undefined || endedAt > at);

/** The requests about one decision. `answer` is called in the order of time. */
const requestsOf = (requests: readonly Request[]) => {
  const byId = Map.groupBy(requests, ({ id }) => id);
  const asked = requests.toSorted((one, other) => inOrder(one.received, other.received));
  let next = 0;
  return {
    /** Answers all requests that wait at that time, or those of the objection that is named. */
    answer: (objection: string | undefined, at: string): void => {
      if (objection !== undefined) {
        for (const request of byId.get(objection) ?? NONE) request.isAnswered ||= isOpenAt(request, at);
        return;
      }
      // This also marks requests that were denied or withdrawn before, which no longer wait anyway.
      for (let request = asked[next]; request && request.received.at <= at; request = asked[++next])
        request.isAnswered = true;
    },
  };
};

const byCorrelation = (requests: readonly Request[]): ReadonlyMap<string, readonly Request[]> => {
  const found = new Map<string, Request[]>();
  for (const request of requests)
    for (const correlation of new Set(request.facts.map(({ links }) => links.correlation))) {
      if (correlation === undefined) continue;
      const there = found.get(correlation);
      if (there) there.push(request);
      else found.set(correlation, [request]);
    }
  return found;
};

const lastReceived = (requests: readonly Request[]): Request | undefined => {
  let last: Request | undefined;
  for (const request of requests)
    if (last === undefined || inOrder(last.received, request.received) < 0) last = request;
  return last;
};

/** Whether an event answers one of several objections. Any other event that names no objection is about all of them. */
export const mayAnswerOne = (fact: Fact): boolean =>
  isExplanation(fact) || isReversal(fact) || isReviewCompleted(fact);

/**
 * For an answer that names neither a decision nor an objection: which person it is for, of those who objected without a decision. An answer that is not in
 * the map is for all of them.
 */
export type PersonsAnswered = ReadonlyMap<Fact, string | undefined>;

const ALL_ANSWERED: PersonsAnswered = new Map();

/**
 * Where several persons wait, an answer is for one of them: the person that it is about, or else whoever asked last until then and still waits. A request for
 * an explanation waits for an explanation; any other objection waits for the decision to be looked at again. An answer that names an objection answers that
 * one. Who was denied with the reason, or withdrew the request, no longer waits.
 */
export const personsAnswered = ({
  facts,
  objections,
  reviews,
}: Pick<Parts, "facts" | "objections"> & { readonly reviews: readonly Review[] }): PersonsAnswered => {
  const undecided = objections.filter(({ decisionId }) => decisionId === undefined);
  if (new Set(undecided.flatMap((objection) => personOf(objection) ?? [])).size < 2) return ALL_ANSWERED;
  // An objection that is received again stays that of its first person, whoever it names then.
  const openings = undecided.flatMap((objection) => {
    const person = personOf(objection);
    return openingsOf(objection).map((opening) => ({ ...opening, person }));
  });
  const waitingFor = Map.groupBy(openings, asksForExplanation);
  const waiting = {
    explanation: waitingAmong(waitingFor.get(true) ?? []),
    decision: waitingAmong(waitingFor.get(false) ?? []),
  };
  const persons = new Map<Fact, string | undefined>();
  const triggers = new Map(reviews.map(({ completed, triggered }) => [completed, triggered]));
  for (const fact of facts) {
    if (!mayAnswerOne(fact)) continue;
    // The event that triggered the review may name the person and the objection.
    const triggered = triggers.get(fact);
    const those = waiting[isExplanation(fact) ? "explanation" : "decision"];
    const objection = fact.links.objection ?? triggered?.links.objection;
    if (objection !== undefined) those.answerObjection(objection, fact.at);
    const said = [fact, ...(triggered ? [triggered] : [])];
    if (said.some(({ links }) => links.decision !== undefined || links.objection !== undefined)) continue;
    const person = fact.subject ?? triggered?.subject ?? those.lastAt(fact.at)?.person;
    those.answerPerson(person, fact.at);
    persons.set(fact, person);
  }
  return persons;
};

interface Asked extends Pick<Objection, "id"> {
  readonly received: Fact;
  readonly person: string | undefined;
  readonly endedAt: string | undefined;
}

/** Who waits. Its functions are called in the order of time, so that not everybody is looked at for each answer: a case may have thousands of both. */
const waitingAmong = (openings: readonly (Opening & Pick<Asked, "person">)[]) => {
  const asked = openings
    .flatMap((opening): readonly Asked[] => {
      const { id, received, person, ended } = opening;
      return received ? [{ id, received, person, endedAt: ended?.at }] : [];
    })
    .sort((one, other) => inOrder(one.received, other.received));
  /** Places in `asked` of those who have asked so far and may still wait. */
  const places: number[] = [];
  let next = 0;
  const ask = (at: string): void => {
    for (let each = asked[next]; each && each.received.at <= at; each = asked[next]) places.push(next++);
  };
  /** By person and by objection: whoever asked before this place no longer waits. */
  const answered = { persons: new Map<string | undefined, number>(), objections: new Map<string, number>() };
  const waits = (place: number, { id, person, endedAt }: Asked, at: string): boolean =>
    place >= (answered.persons.get(person) ?? 0) &&
    place >= (answered.objections.get(id) ?? 0) &&
    (endedAt === undefined || endedAt > at);
  const lastAt = (at: string): Asked | undefined => {
    ask(at);
    for (;;) {
      const place = places.at(-1);
      const last = place === undefined ? undefined : asked[place];
      if (place === undefined || !last || waits(place, last, at)) return last;
      places.pop();
    }
  };
  return {
    /** Who asked last until then and still waits. */
    lastAt,
    answerPerson: (person: string | undefined, at: string): void => {
      ask(at);
      answered.persons.set(person, next);
    },
    answerObjection: (id: string, at: string): void => {
      ask(at);
      answered.objections.set(id, next);
    },
  };
};

export const personOf = ({ facts }: Objection): string | undefined =>
  facts.find(({ subject }) => subject !== undefined)?.subject;
