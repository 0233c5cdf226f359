/**
 * Works out from the facts of a case what happened in it: decisions, notices, objections, human reviews, incidents, and which fact belongs to which. Pure,
 * and a function of the set of facts: the order in which they arrived makes no difference.
 */
import { instantKeyOf } from "../event/formats.ts";
import { decisionsByAnswer } from "./answers.ts";
import { type DecisionFinder, decisionFinder } from "./decision-finder.ts";
import {
  basesOf,
  DECISION_MADE,
  type Fact,
  INCIDENT_DETECTED,
  inOrder,
  isNotice,
  isNoticeAnswer,
  isNoticeDismissed,
  isNoticeShown,
  OBJECTION_RECEIVED,
} from "./fact.ts";
import { meantBy, openedIn } from "./meant-by.ts";
import { meaningByEvent } from "./named-by-event.ts";
import { isExplanation, isReversal, type Objection, openingsOf } from "./objection.ts";
import { type OtherPersons, otherPersons } from "./persons.ts";
import { decisionsByCompletion, isReviewCompleted, type Review, reviewsOf } from "./reviews.ts";

export interface Decision {
  readonly id: string;
  /** Absent if events refer to a decision that was never seen. */
  readonly made: Fact | undefined;
  readonly notices: readonly Fact[];
  readonly explanations: readonly Fact[];
  readonly objections: readonly Objection[];
  readonly reviews: readonly Review[];
  readonly reversals: readonly Fact[];
  /** All of the above and everything else that refers to it, in order. */
  readonly facts: readonly Fact[];
  /** Legal bases that any of these facts names, each once. */
  readonly bases: readonly string[];
}

/** The first notice, if it was shown no later than the decision was made. For a decision that was never seen, the first of all notices. */
export const noticeBefore = ({ made, notices: [first] }: Decision): Fact | undefined =>
  first && (made === undefined || first.at <= made.at) ? first : undefined;

export interface Incident {
  readonly id: string;
  readonly detected: Fact | undefined;
  readonly reports: readonly Fact[];
  readonly mitigated: Fact | undefined;
  readonly facts: readonly Fact[];
}

/** When it became known, as `incident.detected` says. Where that gives no time, as the last event says that gives one. Undefined where none does. */
export const awareAt = ({ detected, facts }: Incident): string | undefined => {
  const saidBy = (fact: Fact | undefined): string | undefined => {
    const said = fact?.says.aware_at;
    return said === undefined ? undefined : instantKeyOf(said);
  };
  return saidBy(detected) ?? saidBy(facts.findLast((fact) => saidBy(fact) !== undefined));
};

/** What a person was told beforehand, and what the person did with it. */
export interface Notice {
  /** The event that showed it. Of an orphan, which nothing showed, the event that dismissed or acknowledged it. */
  readonly id: string;
  readonly shown: Fact | undefined;
  readonly dismissed: Fact | undefined;
  readonly acknowledged: Fact | undefined;
}

export interface Case {
  /** In order. */
  readonly facts: readonly Fact[];
  readonly decisions: readonly Decision[];
  readonly notices: readonly Notice[];
  readonly objections: readonly Objection[];
  readonly reviews: readonly Review[];
  readonly incidents: readonly Incident[];
}

export const caseOf = (all: readonly Fact[]): Case => {
  const facts = meaningByEvent(areInOrder(all) ? all : [...all].sort(inOrder));
  const isOther = otherPersons(facts);
  const { nearest, told } = decisionFinder(facts, isOther);
  const objections = objectionsOf(facts, nearest, isOther);
  const objectedTo = decisionsByObjection(objections);
  const named = (fact: Fact): string | undefined => fact.links.decision ?? objectedTo.get(fact);
  const reviews = reviewsOf({ facts, named, nearest, isOther });
  const reviewed = decisionsByCompletion(reviews);
  const given = decisionsByAnswer({ facts, objections, named, nearest, isOther });
  const notices = noticesOf(facts, isOther);
  const answered = noticesByAnswer(notices);
  const toldOrNearest = (fact: Fact): string | readonly string[] | undefined =>
    isNoticeShown(fact) ? (named(fact) ?? told(fact)) : nearest(fact);
  const belongsTo = (fact: Fact): string | readonly string[] | undefined =>
    named(fact) ?? reviewed.get(fact) ?? given.get(fact) ?? toldOrNearest(answered.get(fact) ?? fact);
  return {
    facts,
    decisions: decisionsOf({ facts, belongsTo, objections, reviews }),
    notices,
    objections,
    reviews,
    incidents: incidentsOf(facts),
  };
};

const areInOrder = (facts: readonly Fact[]): boolean => {
  let last: Fact | undefined;
  for (const fact of facts) {
    if (last !== undefined && inOrder(last, fact) > 0) return false;
    last = fact;
  }
  return true;
};

const NONE: readonly never[] = [];
const NO_OBJECTIONS: ReadonlyMap<Fact, string> = new Map();

/** By fact: the decision that its objection is about, also where the fact does not name the objection. */
const decisionsByObjection = (objections: readonly Objection[]): ReadonlyMap<Fact, string> => {
  if (objections.length === 0) return NO_OBJECTIONS;
  const found = new Map<Fact, string>();
  for (const { decisionId, facts } of objections)
    if (decisionId !== undefined) for (const fact of facts) found.set(fact, decisionId);
  return found;
};

/** Stands in a register even where it names nothing. Then it is a case of its own (projections/cases/nodes.ts). */
export const standsAlone = (fact: Fact): boolean =>
  isNotice(fact) || isReviewCompleted(fact) || fact.type === "decision.human_review_triggered";

/** What the event continues without naming it. Where nothing is found that it could mean, it stands in that register under its own id. */
export const followedBy = ({ type, links }: Fact): "objection" | "incident" | undefined => {
  if (FOLLOWS_OBJECTION.includes(type)) return links.objection === undefined ? "objection" : undefined;
  return FOLLOWS_INCIDENT.includes(type) && links.incident === undefined ? "incident" : undefined;
};

const FOLLOWS_OBJECTION: readonly string[] = [
  "objection.acknowledged",
  "objection.escalated",
  "objection.resolved",
];

const standingAs = ({ standsAs, id }: Fact): string => standsAs ?? id;

/** What was opened, by its id. Where several events open the same thing, the first counts. */
const openedBy = (
  facts: readonly Fact[],
  isOpening: (fact: Fact) => boolean,
  idOf: (fact: Fact) => string,
): ReadonlyMap<string, Fact> => {
  const opened = new Map<string, Fact>();
  for (const fact of facts) if (isOpening(fact) && !opened.has(idOf(fact))) opened.set(idOf(fact), fact);
  return opened;
};

/** Groups facts by what they belong to, which may be several things. Each group is in the order of the facts. */
const grouped = (
  facts: readonly Fact[],
  keyOf: (fact: Fact) => string | readonly string[] | undefined,
): Map<string, Fact[]> => {
  const groups = new Map<string, Fact[]>();
  for (const fact of facts) {
    const keys = keyOf(fact);
    if (typeof keys === "string") addTo(groups, keys, fact);
    else if (keys !== undefined) for (const key of keys) addTo(groups, key, fact);
  }
  return groups;
};

const addTo = (groups: Map<string, Fact[]>, key: string, fact: Fact): void => {
  const group = groups.get(key);
  if (group) group.push(fact);
  else groups.set(key, [fact]);
};

/**
 * Each event shows one notice. An event that dismisses or acknowledges a notice means the last one shown until then; of several such events the first counts.
 */
const noticesOf = (facts: readonly Fact[], isOther: OtherPersons): readonly Notice[] => {
  const notices: { -readonly [Name in keyof Notice]: Notice[Name] }[] = [];
  let hasAnswers = false;
  for (const fact of facts) {
    if (isNoticeShown(fact))
      notices.push({ id: fact.id, shown: fact, dismissed: undefined, acknowledged: undefined });
    else hasAnswers ||= isNoticeAnswer(fact);
  }
  // Most cases have a notice, and few notices are answered.
  if (!hasAnswers) return notices.length === 0 ? NONE : notices;
  const shown = openedIn(openedBy(facts, isNoticeShown, ({ id }) => id));
  const byId = new Map(notices.map((notice) => [notice.id, notice]));
  for (const fact of facts) {
    if (!isNoticeAnswer(fact)) continue;
    const id = meantBy(fact, shown, { isOther, isUntilThen: true }) ?? fact.id;
    let notice = byId.get(id);
    if (!notice) {
      notice = { id, shown: undefined, dismissed: undefined, acknowledged: undefined };
      notices.push(notice);
      byId.set(id, notice);
    }
    if (isNoticeDismissed(fact)) notice.dismissed ??= fact;
    else notice.acknowledged ??= fact;
  }
  return notices;
};

const NO_ANSWERS: ReadonlyMap<Fact, Fact> = new Map();

const isAnswered = ({ dismissed, acknowledged }: Notice): boolean =>
  dismissed !== undefined || acknowledged !== undefined;

/** The notice shown, by the event that dismissed or acknowledged it. */
const noticesByAnswer = (notices: readonly Notice[]): ReadonlyMap<Fact, Fact> => {
  if (!notices.some(isAnswered)) return NO_ANSWERS;
  const found = new Map<Fact, Fact>();
  for (const { shown, dismissed, acknowledged } of notices)
    for (const answer of [dismissed, acknowledged]) if (shown && answer) found.set(answer, shown);
  return found;
};

const isOfObjection = ({ type, links }: Fact): boolean =>
  links.objection !== undefined || FOLLOWS_OBJECTION.includes(type);

const objectionsOf = (
  facts: readonly Fact[],
  decisionOf: DecisionFinder["nearest"],
  isOther: OtherPersons,
): readonly Objection[] => {
  // Most cases have no objection, and this is called for every event.
  if (!facts.some(isOfObjection)) return NONE;
  const isReceived = ({ type }: Fact): boolean => OBJECTION_RECEIVED.includes(type);
  const received = openedIn(openedBy(facts, isReceived, ({ links, id }) => links.objection ?? id));
  const saidOf = new Map(FOLLOWS_OBJECTION.map((type) => [type, new Set<string>()]));
  const closed = saidOf.get("objection.resolved");
  const members = grouped(facts, (fact) => {
    const { type, links } = fact;
    const said = saidOf.get(type);
    if (links.objection === undefined && !said) return undefined;
    const id = links.objection ?? meantBy(fact, received, { closed, said, isOther }) ?? standingAs(fact);
    said?.add(id);
    // An objection that is received again waits for each of these steps again.
    if (isReceived(fact) && closed?.has(id)) for (const each of saidOf.values()) each.delete(id);
    return id;
  });
  return [...members].map(([id, own]) => {
    const decisionId = firstDefined(own, ({ links }) => links.decision) ?? firstDefined(own, decisionOf);
    const openings = openingsOf({ id, decisionId, facts: own });
    const [last] = openings.slice(-1);
    return {
      id,
      facts: own,
      decisionId,
      type: last?.type,
      received: last?.received,
      acknowledged: last?.acknowledged,
      escalated: last?.escalated,
      resolved: last?.resolved,
    };
  });
};

const firstDefined = (
  facts: readonly Fact[],
  ask: (fact: Fact) => string | undefined,
): string | undefined => {
  for (const fact of facts) {
    const found = ask(fact);
    if (found !== undefined) return found;
  }
  return undefined;
};

const decisionsOf = (parts: {
  facts: readonly Fact[];
  belongsTo: (fact: Fact) => string | readonly string[] | undefined;
  objections: readonly Objection[];
  reviews: readonly Review[];
}): readonly Decision[] => {
  const { facts, belongsTo } = parts;
  const [objections, reviews] = [byDecision(parts.objections), byDecision(parts.reviews)];
  const decisions: Decision[] = [];
  for (const [id, own] of grouped(facts, belongsTo))
    decisions.push(
      decisionFrom(id, {
        facts: own,
        objections: objections.get(id) ?? NONE,
        reviews: reviews.get(id) ?? NONE,
      }),
    );
  return decisions;
};

/** Grouped once, so that each is looked at once even if a case has thousands. */
const byDecision = <Thing extends Pick<Objection | Review, "decisionId">>(
  things: readonly Thing[],
): ReadonlyMap<string | undefined, readonly Thing[]> =>
  things.length === 0 ? NO_GROUPS : Map.groupBy(things, ({ decisionId }) => decisionId);

const NO_GROUPS: ReadonlyMap<string | undefined, readonly never[]> = new Map();

export const decisionsById = (decisions: readonly Decision[]): ReadonlyMap<string | undefined, Decision> =>
  new Map(decisions.map((decision) => [decision.id, decision]));

/** Made from its own facts, objections and reviews. Where several facts make the decision, the first counts. */
const decisionFrom = (
  id: string,
  { facts, objections, reviews }: Pick<Case, "facts" | "objections" | "reviews">,
): Decision => {
  let made: Fact | undefined;
  const notices: Fact[] = [];
  const explanations: Fact[] = [];
  const reversals: Fact[] = [];
  for (const fact of facts) {
    if (fact.type === DECISION_MADE) made ??= fact;
    else if (isNoticeShown(fact)) notices.push(fact);
    else if (isExplanation(fact)) explanations.push(fact);
    else if (isReversal(fact)) reversals.push(fact);
  }
  return {
    id,
    made,
    notices,
    explanations,
    objections,
    reviews,
    reversals,
    facts,
    bases: basesOf(facts),
  };
};

const INCIDENT_REPORTED = "incident.reported_to_authority";
const INCIDENT_MITIGATED = "incident.mitigated";
const FOLLOWS_INCIDENT: readonly string[] = [INCIDENT_REPORTED, INCIDENT_MITIGATED];

const isOfIncident = ({ type, links }: Fact): boolean =>
  links.incident !== undefined || FOLLOWS_INCIDENT.includes(type);

const incidentsOf = (facts: readonly Fact[]): readonly Incident[] => {
  if (!facts.some(isOfIncident)) return NONE;
  const detected = openedBy(
    facts,
    ({ type }) => type === INCIDENT_DETECTED,
    ({ links, id }) => links.incident ?? id,
  );
  const opened = openedIn(detected);
  const closed = new Set<string>();
  const members = grouped(facts, (fact) => {
    if (!isOfIncident(fact)) return undefined;
    const id = fact.links.incident ?? meantBy(fact, opened, { closed }) ?? standingAs(fact);
    if (fact.type === INCIDENT_MITIGATED) closed.add(id);
    return id;
  });
  return [...members].map(([id, own]) => ({
    id,
    facts: own,
    detected: detected.get(id),
    reports: own.filter(({ type }) => type === INCIDENT_REPORTED),
    mitigated: own.find(({ type }) => type === INCIDENT_MITIGATED),
  }));
};
