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
  INCIDENT_DETECTED,
  INCIDENT_MITIGATED,
  INCIDENT_REPORTED,
  inOrder,
  isNotice,
  isNoticeShown,
} from "./fact.ts";
import { type Candidate, type Link, type Links, linksIn, type NoLink } from "./links.ts";
import { meaningByEvent } from "./named-by-event.ts";
import { type Notice, noticesOf } from "./notices.ts";
import { isExplanation, isReversal, type Objection, openingsOf } from "./objection.ts";
import { isReviewCompleted, isReviewTriggered, type Review, reviewsOf } from "./reviews.ts";

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

const awareOf = ({ says }: Fact): string | undefined =>
  says.aware_at === undefined ? undefined : instantKeyOf(says.aware_at);

export interface Awareness {
  readonly at: string;
  readonly by: Fact;
}

/** What says when it became known, the one that counts last: `incident.detected`, or else the last event that gives a time. */
export const awarenessesOf = ({ detected, facts }: Incident): readonly Awareness[] => {
  const said = (by: Fact): readonly Awareness[] => {
    const at = awareOf(by);
    return at === undefined ? NONE : [{ at, by }];
  };
  const first = detected ? said(detected) : NONE;
  return first.length > 0 ? first : facts.flatMap(said);
};

/** An event that no rule links, and what it could belong to. */
export interface Unlinked {
  readonly fact: Fact;
  readonly candidates: readonly Candidate[];
}

export interface Case {
  /** In order. */
  readonly facts: readonly Fact[];
  readonly decisions: readonly Decision[];
  readonly notices: readonly Notice[];
  readonly objections: readonly Objection[];
  readonly reviews: readonly Review[];
  readonly incidents: readonly Incident[];
  readonly links: Links;
}

export const caseOf = (all: readonly Fact[]): Case => {
  const facts = meaningByEvent(areInOrder(all) ? all : [...all].sort(inOrder));
  const links = linksIn(facts);
  const objections = objectionsOf(facts, links);
  const reviews = reviewsOf(facts, links);
  return {
    facts,
    decisions: decisionsOf({ facts, links, objections, reviews }),
    notices: noticesOf(facts),
    objections,
    reviews,
    incidents: incidentsOf(facts, links),
    links,
  };
};

/** How an event is linked to what it continues or is about. Undefined for an event that stands by itself. */
export const linkOf = (
  fact: Fact,
  { objectionOf, decisionOf, incidentOf }: Links,
): Link | NoLink | undefined => {
  const [objection, decision] = [objectionOf(fact), decisionOf(fact)];
  // An objection or an incident is what it opens, whatever decision it is about.
  const found = [decision, objection, incidentOf(fact)].find((link) => link?.id !== undefined);
  if (found !== undefined) return found;
  return objection ?? decision ?? incidentOf(fact);
};

/** The events that no rule links to a decision, an objection or an incident that they are about. */
export const unlinkedIn = ({ facts, links }: Pick<Case, "facts" | "links">): readonly Unlinked[] =>
  facts.flatMap((fact) => {
    const missing = [links.objectionOf(fact), links.decisionOf(fact), links.incidentOf(fact)].filter(
      (link) => link !== undefined && link.id === undefined,
    );
    return missing.length === 0
      ? []
      : [{ fact, candidates: missing.flatMap(({ candidates }) => candidates) }];
  });

const areInOrder = (facts: readonly Fact[]): boolean => {
  let last: Fact | undefined;
  for (const fact of facts) {
    if (last !== undefined && inOrder(last, fact) > 0) return false;
    last = fact;
  }
  return true;
};

const NONE: readonly never[] = [];

/** Stands in a register even where it names nothing. Then it is a case of its own (projections/cases/nodes.ts). */
export const standsAlone = (fact: Fact): boolean =>
  isNotice(fact) || isReviewCompleted(fact) || isReviewTriggered(fact);

/** What the event continues without naming it. Where nothing is found that it could mean, it stands in that register under its own id. */
export const followedBy = ({ type, links }: Fact): "objection" | "incident" | undefined => {
  if (FOLLOWS_OBJECTION.includes(type)) return links.objection === undefined ? "objection" : undefined;
  return FOLLOWS_INCIDENT.includes(type) && links.incident === undefined ? "incident" : undefined;
};

const standingAs = ({ standsAs, id }: Fact): string => standsAs ?? id;

/** Groups facts by what they belong to. Each group is in the order of the facts. */
const grouped = (
  facts: readonly Fact[],
  keyOf: (fact: Fact) => string | undefined,
): ReadonlyMap<string, readonly Fact[]> => {
  const groups = new Map<string, Fact[]>();
  for (const fact of facts) {
    const key = keyOf(fact);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(fact);
    else groups.set(key, [fact]);
  }
  return groups;
};

const isOfObjection = ({ type, links }: Fact): boolean =>
  links.objection !== undefined || FOLLOWS_OBJECTION.includes(type);

/** What continues an objection, and is not linked to one, is an objection of its own. */
const objectionsOf = (facts: readonly Fact[], links: Links): readonly Objection[] => {
  // Most cases have no objection, and this is called for every event.
  if (!facts.some(isOfObjection)) return NONE;
  const members = grouped(facts, (fact) => {
    const link = links.objectionOf(fact);
    return link && (link.id ?? standingAs(fact));
  });
  const answers = grouped(facts, (fact) => {
    if (links.decisionOf(fact)?.id !== undefined || !(isExplanation(fact) || isReversal(fact)))
      return undefined;
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

const decisionsOf = (
  parts: Pick<Case, "facts" | "links" | "objections" | "reviews">,
): readonly Decision[] => {
  const { facts, links } = parts;
  const [objections, reviews] = [byDecision(parts.objections), byDecision(parts.reviews)];
  const decisions: Decision[] = [];
  for (const [id, own] of grouped(facts, (fact) => links.decisionOf(fact)?.id))
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
  { facts: all, objections, reviews }: Pick<Case, "facts" | "objections" | "reviews">,
): Decision => {
  const made = all.find(({ type }) => type === DECISION_MADE);
  const facts = all.some(({ bySubject }) => bySubject)
    ? all.filter((fact) => !fact.bySubject || isShownBefore(fact, made))
    : all;
  const notices: Fact[] = [];
  const explanations: Fact[] = [];
  const reversals: Fact[] = [];
  for (const fact of facts) {
    if (isNoticeShown(fact)) notices.push(fact);
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

/** Rule 3 of DOMAIN 2b: the same asset and the same person, shown before the decision. */
export const isShownBefore = (notice: Fact, made: Fact | undefined): boolean =>
  made !== undefined &&
  notice.at <= made.at &&
  notice.asset === made.asset &&
  notice.subject !== undefined &&
  notice.subject === made.subject;

const isOfIncident = ({ type, links }: Fact): boolean =>
  links.incident !== undefined || FOLLOWS_INCIDENT.includes(type);

const incidentsOf = (facts: readonly Fact[], links: Links): readonly Incident[] => {
  if (!facts.some(isOfIncident)) return NONE;
  const members = grouped(facts, (fact) => {
    const link = links.incidentOf(fact);
    return link && (link.id ?? standingAs(fact));
  });
  return [...members].map(([id, own]) => ({
    id,
    facts: own,
    detected: own.find(({ type }) => type === INCIDENT_DETECTED),
    reports: own.filter(({ type }) => type === INCIDENT_REPORTED),
    mitigated: own.find(({ type }) => type === INCIDENT_MITIGATED),
  }));
};
