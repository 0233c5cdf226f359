/**
 * Works out from the facts of a case what happened in it: decisions, notices, objections, human reviews, incidents, and which fact belongs to which. Pure,
 * and a function of the set of facts: the order in which they arrived makes no difference.
 */
import { instantKeyOf } from "../../event/formats.ts";
import {
  basesOf,
  DECISION_MADE,
  type Fact,
  FOLLOWS_INCIDENT,
  FOLLOWS_OBJECTION,
  grouped,
  INCIDENT_DETECTED,
  INCIDENT_MITIGATED,
  INCIDENT_REPORTED,
  inOrder,
  isNotice,
  isNoticeAnswer,
  isNoticeDismissed,
  isNoticeShown,
  NAMED_KINDS,
  nameByEvent,
  renamed,
} from "./fact.ts";
import { type Candidate, type Link, type LinkedBy, type Links, linksIn, type NoLink } from "./links.ts";
import { isExplanation, isReversal, type Objection, openingsOf } from "./objection.ts";

export interface Decision {
  readonly id: string;
  /** Absent if events refer to a decision that was never seen. */
  readonly made: Fact | undefined;
  readonly notices: readonly Fact[];
  readonly explanations: readonly Fact[];
  readonly objections: readonly Objection[];
  readonly reviews: readonly Review[];
  readonly reversals: readonly Fact[];
  readonly facts: readonly Fact[];
  readonly bases: readonly string[];
}

export interface Notice {
  /** The event that showed it. Of an orphan, which nothing showed, the event that dismissed or acknowledged it. */
  readonly id: string;
  readonly shown: Fact | undefined;
  readonly dismissed: Fact | undefined;
  readonly acknowledged: Fact | undefined;
}

export interface Review {
  /** The event that triggered it. Of an orphan, which nothing triggered, the event that completed it. */
  readonly id: string;
  readonly decisionId: string | undefined;
  readonly linkedBy: LinkedBy | undefined;
  /** The objection that it is about, where no decision is known. */
  readonly objectionId: string | undefined;
  readonly triggered: Fact | undefined;
  readonly triggers: readonly Fact[];
  readonly completed: Fact | undefined;
}

export interface Incident {
  readonly id: string;
  readonly detected: Fact | undefined;
  readonly reports: readonly Fact[];
  readonly mitigated: Fact | undefined;
  readonly facts: readonly Fact[];
}

export interface Case {
  readonly facts: readonly Fact[];
  readonly decisions: readonly Decision[];
  readonly notices: readonly Notice[];
  readonly objections: readonly Objection[];
  readonly reviews: readonly Review[];
  readonly incidents: readonly Incident[];
  readonly links: Links;
}

export const caseOf = (all: readonly Fact[]): Case => {
  const facts = meaningByEvent(all.toSorted(inOrder));
  const links = linksIn(facts);
  const objections = objectionsOf(facts, links);
  const reviews = reviewsOf(facts, links);
  return {
    facts,
    decisions: decisionsOf(facts, { links, objections, reviews }),
    notices: noticesOf(facts),
    objections,
    reviews,
    incidents: incidentsOf(facts, links),
    links,
  };
};

const NONE: readonly never[] = [];

/**
 * What was opened under a name that says nothing is named by its event (views/cases/nodes.ts). Whoever refers to that event by its id means the same
 * thing, if both are in one case.
 */
const meaningByEvent = (facts: readonly Fact[]): readonly Fact[] => {
  const opened = new Set<string>();
  for (const fact of facts)
    for (const kind of NAMED_KINDS)
      if (fact.links[kind] !== undefined && fact.links[kind] === nameByEvent(fact))
        opened.add(`${kind}:${fact.id}`);
  if (opened.size === 0) return facts;
  return facts.map((fact) =>
    renamed(fact, (kind, id) => (opened.has(`${kind}:${id}`) ? nameByEvent({ id }) : id)),
  );
};

/** The first notice, if it was shown no later than the decision was made. For a decision that was never seen, the first of all notices. */
export const noticeBefore = ({ made, notices: [first] }: Decision): Fact | undefined =>
  first && (made === undefined || first.at <= made.at) ? first : undefined;

/** Rule 3 of DOMAIN 2b: the same asset and the same person, shown before the decision. */
export const isShownBefore = (notice: Fact, made: Fact | undefined): boolean =>
  made !== undefined &&
  notice.at <= made.at &&
  notice.asset === made.asset &&
  notice.subject !== undefined &&
  notice.subject === made.subject;

export interface Awareness {
  readonly at: string;
  readonly by: Fact;
}

/** What says when it became known, the one that counts last: `incident.detected`, or else the last event that gives a time. */
export const awarenessesOf = ({ detected, facts }: Incident): readonly Awareness[] => {
  const said = (by: Fact): readonly Awareness[] => {
    const at = by.says.aware_at === undefined ? undefined : instantKeyOf(by.says.aware_at);
    return at === undefined ? NONE : [{ at, by }];
  };
  const first = detected ? said(detected) : NONE;
  return first.length > 0 ? first : facts.flatMap(said);
};

export interface Unlinked {
  readonly fact: Fact;
  readonly candidates: readonly Candidate[];
}

const linksOf = (fact: Fact, { objectionOf, decisionOf, incidentOf }: Links): readonly (Link | NoLink)[] =>
  [objectionOf(fact), decisionOf(fact), incidentOf(fact)].filter((link) => link !== undefined);

/** How an event is linked to what it continues or is about. Undefined for an event that stands by itself. */
export const linkOf = (fact: Fact, links: Links): Link | NoLink | undefined => {
  // An objection or an incident is what it opens, whatever decision it is about.
  const decision = links.decisionOf(fact);
  if (decision?.id !== undefined) return decision;
  const found = linksOf(fact, links);
  return found.find(({ id }) => id !== undefined) ?? found[0];
};

/** The events that no rule links to a decision, an objection or an incident that they are about. */
export const unlinkedIn = ({ facts, links }: Pick<Case, "facts" | "links">): readonly Unlinked[] =>
  facts.flatMap((fact) => {
    const missing = linksOf(fact, links).filter(({ id }) => id === undefined);
    return missing.length === 0
      ? []
      : [{ fact, candidates: missing.flatMap(({ candidates = [] }) => candidates) }];
  });

/** Stands in a register even where it names nothing. Then it is a case of its own (views/cases/nodes.ts). */
export const standsAlone = (fact: Fact): boolean => isNotice(fact) || isOfReview(fact);

/** What the event continues without naming it. Where nothing is found that it could mean, it stands in that register under its own id. */
export const followedBy = ({ type, links }: Fact): "objection" | "incident" | undefined => {
  if (FOLLOWS_OBJECTION.includes(type)) return links.objection === undefined ? "objection" : undefined;
  return FOLLOWS_INCIDENT.includes(type) && links.incident === undefined ? "incident" : undefined;
};

const groupedBy = (facts: readonly Fact[], linkTo: (fact: Fact) => Link | NoLink | undefined) =>
  grouped(facts, (fact) => {
    const link = linkTo(fact);
    return link && (link.id ?? fact.standsAs ?? fact.id);
  });

const objectionsOf = (facts: readonly Fact[], links: Links): readonly Objection[] => {
  const members = groupedBy(facts, links.objectionOf);
  // Most cases have no objection, and this is called for every event.
  if (members.size === 0) return NONE;
  const answers = grouped(facts, (fact) => {
    if (!(isExplanation(fact) || isReversal(fact))) return undefined;
    if (links.decisionOf(fact)?.id !== undefined) return undefined;
    return fact.links.objection ?? links.soleObjectionOf(fact);
  });
  return [...members].map(([id, own]) => {
    const decision = decisionOfAll(own, links.decisionOfObjection(id), links);
    const openings = openingsOf({ id, decisionId: decision?.id, facts: own });
    const last = openings.at(-1);
    return {
      id,
      facts: own,
      decisionId: decision?.id,
      linkedBy: decision?.by,
      answers: answers.get(id) ?? NONE,
      type: last?.type,
      received: last?.received,
      acknowledged: last?.acknowledged,
      escalated: last?.escalated,
      resolved: last?.resolved,
    };
  });
};

/** Nothing names an objection that stands under the id of what continues it: then its own events tell. */
const decisionOfAll = (
  facts: readonly Fact[],
  ofObjection: Link | NoLink,
  { decisionOf }: Links,
): Link | undefined => {
  if (ofObjection.id !== undefined) return ofObjection;
  for (const fact of facts) {
    const found = decisionOf(fact);
    if (found?.id !== undefined) return found;
  }
  return undefined;
};

const incidentsOf = (facts: readonly Fact[], links: Links): readonly Incident[] =>
  [...groupedBy(facts, links.incidentOf)].map(([id, own]) => ({
    id,
    facts: own,
    detected: own.find(({ type }) => type === INCIDENT_DETECTED),
    reports: own.filter(({ type }) => type === INCIDENT_REPORTED),
    mitigated: own.find(({ type }) => type === INCIDENT_MITIGATED),
  }));

const decisionsOf = (
  facts: readonly Fact[],
  parts: Pick<Case, "links" | "objections" | "reviews">,
): readonly Decision[] => {
  const objections = grouped(parts.objections, ({ decisionId }) => decisionId);
  const reviews = grouped(parts.reviews, ({ decisionId }) => decisionId);
  return [...grouped(facts, (fact) => parts.links.decisionOf(fact)?.id)].map(([id, all]): Decision => {
    // Where several facts make the decision, the first counts.
    const made = all.find(({ type }) => type === DECISION_MADE);
    const own = all.some(({ bySubject }) => bySubject)
      ? all.filter((fact) => !fact.bySubject || isShownBefore(fact, made))
      : all;
    const [notices, explanations, reversals]: [Fact[], Fact[], Fact[]] = [[], [], []];
    for (const fact of own) {
      if (isNoticeShown(fact)) notices.push(fact);
      else if (isExplanation(fact)) explanations.push(fact);
      else if (isReversal(fact)) reversals.push(fact);
    }
    return {
      id,
      made,
      notices,
      explanations,
      reversals,
      objections: objections.get(id) ?? NONE,
      reviews: reviews.get(id) ?? NONE,
      facts: own,
      bases: basesOf(own),
    };
  });
};

export const decisionsById = (decisions: readonly Decision[]): ReadonlyMap<string | undefined, Decision> =>
  new Map(decisions.map((decision) => [decision.id, decision]));

type Growing<Thing> = { -readonly [Name in keyof Thing]: Thing[Name] };

/**
 * Each event shows one notice. An event that dismisses or acknowledges one means the only notice that names its decision, or else the only one under its
 * correlation; of several such events the first counts.
 */
const noticesOf = (facts: readonly Fact[]): readonly Notice[] => {
  const unanswered = { dismissed: undefined, acknowledged: undefined };
  const [notices, answers]: [Growing<Notice>[], Fact[]] = [[], []];
  for (const fact of facts) {
    if (isNoticeAnswer(fact)) answers.push(fact);
    else if (isNoticeShown(fact) && !fact.bySubject)
      notices.push({ id: fact.id, shown: fact, ...unanswered });
  }
  if (answers.length === 0) return notices;
  const byDecision = Map.groupBy(notices, ({ shown }) => shown?.links.decision);
  const byCorrelation = Map.groupBy(notices, ({ shown }) => shown?.links.correlation);
  for (const fact of answers) {
    const { decision, correlation } = fact.links;
    const ofDecision = decision === undefined ? undefined : byDecision.get(decision);
    const those = ofDecision ?? (correlation === undefined ? undefined : byCorrelation.get(correlation));
    const sole = those?.length === 1 ? those[0] : undefined;
    const notice = sole ?? { id: fact.id, shown: undefined, ...unanswered };
    if (notice !== sole) notices.push(notice);
    if (isNoticeDismissed(fact)) notice.dismissed ??= fact;
    else notice.acknowledged ??= fact;
  }
  return notices;
};

const isReviewTriggered = ({ type }: Fact): boolean => type === "decision.human_review_triggered";
const isReviewCompleted = ({ type }: Fact): boolean =>
  type === "decision.human_review_completed" || type === "human_review";

const isOfReview = (fact: Fact): boolean => isReviewTriggered(fact) || isReviewCompleted(fact);

/**
 * A review is identified by its decision, else by its objection, else by its correlation (DOMAIN 2b), and each of these has one review at a time. A trigger
 * opens a review unless one is open, the next completion closes it, and a completion without an open review is an orphan.
 */
const reviewsOf = (facts: readonly Fact[], { decisionOf, soleObjectionOf }: Links): readonly Review[] => {
  if (!facts.some(isOfReview)) return NONE;
  // At equal times the trigger comes first, whatever the ids.
  const ofReviews = facts
    .filter(isOfReview)
    .sort((one, other) =>
      one.at === other.at ? Number(isReviewCompleted(one)) - Number(isReviewCompleted(other)) : 0,
    );
  const reviewed = new Map<string, (Growing<Review> & { readonly triggers: Fact[] })[]>();
  for (const fact of ofReviews) {
    const decision = decisionOf(fact);
    const decisionId = decision?.id;
    const objectionId =
      decisionId === undefined ? (fact.links.objection ?? soleObjectionOf(fact)) : undefined;
    const key = JSON.stringify([decisionId, objectionId, identityBeside(fact, decisionId ?? objectionId)]);
    const reviews = reviewed.get(key) ?? [];
    reviewed.set(key, reviews);
    const open = reviews.at(-1);
    const completed = isReviewCompleted(fact) ? fact : undefined;
    if (open && open.completed === undefined) {
      if (completed) open.completed = completed;
      else open.triggers.push(fact);
      continue;
    }
    reviews.push({
      id: fact.id,
      decisionId,
      linkedBy: decision?.by,
      objectionId,
      triggered: completed ? undefined : fact,
      triggers: completed ? [] : [fact],
      completed,
    });
  }
  return [...reviewed.values()].flat();
};

const identityBeside = ({ id, links }: Fact, known: string | undefined): readonly (string | undefined)[] =>
  known === undefined ? [links.correlation, links.correlation === undefined ? id : undefined] : NONE;
