/**
 * From the facts of a case to what happened in it: decisions, objections, human reviews, incidents, and which fact belongs to which. Pure, and
 * a function of the set of facts: the order in which they arrived does not show.
 */
import { DECISION_MADE, type Fact, INCIDENT_DETECTED, inOrder, OBJECTION_RECEIVED } from "./fact.ts";

export interface Decision {
  readonly id: string;
  /** Absent where others refer to a decision that was never seen. */
  readonly made: Fact | undefined;
  readonly notices: readonly Fact[];
  readonly explanations: readonly Fact[];
  readonly objections: readonly Objection[];
  readonly reviews: readonly Review[];
  readonly reversals: readonly Fact[];
  /** All of the above and whatever else refers to it, in order. */
  readonly facts: readonly Fact[];
}

export interface Objection {
  readonly id: string;
  readonly decisionId: string | undefined;
  /** Absent where others refer to an objection that was never seen. */
  readonly received: Fact | undefined;
  readonly acknowledged: Fact | undefined;
  readonly escalated: Fact | undefined;
  readonly resolved: Fact | undefined;
  /** In order, the first one included. */
  readonly facts: readonly Fact[];
}

export interface Review {
  /** The event that triggered it; of an orphan the one that completed it. */
  readonly id: string;
  readonly decisionId: string | undefined;
  readonly triggered: Fact | undefined;
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
  /** In order. */
  readonly facts: readonly Fact[];
  readonly decisions: readonly Decision[];
  readonly objections: readonly Objection[];
  readonly reviews: readonly Review[];
  readonly incidents: readonly Incident[];
}

export const caseOf = (given: readonly Fact[]): Case => {
  const facts = given.length > 1 ? [...given].sort(inOrder) : given;
  const made = facts.filter(({ type }) => type === DECISION_MADE);
  const decisionOf = decisionFinder(made, facts);
  const objections = objectionsOf(facts, decisionOf);
  const objectionDecision = new Map(objections.map(({ id, decisionId }) => [id, decisionId] as const));
  const belongsTo = (fact: Fact): string | undefined => {
    const { decision, objection } = fact.links;
    return (
      decision ?? (objection === undefined ? undefined : objectionDecision.get(objection)) ?? decisionOf(fact)
    );
  };
  const reviews = reviewsOf(facts, belongsTo);
  return {
    facts,
    decisions: decisionsOf({ facts, belongsTo, objections, reviews }),
    objections,
    reviews,
    incidents: incidentsOf(facts),
  };
};

const REVIEW_COMPLETED: readonly string[] = ["decision.human_review_completed", "human_review"];
const NOTICE_SHOWN: readonly string[] = ["transparency.notice_shown", "disclosure_shown"];

/** What belongs to a decision even where it only shares the correlation with it. */
const ABOUT_DECISIONS =
  /^(decision|objection|transparency)\.|^(objection|human_review|disclosure_|watermark_)/;

type DecisionFinder = (fact: Fact) => string | undefined;

/**
 * A fact that names no decision and no objection belongs to one of the same correlation, or of the case: a notice to the first decision from
 * then on, as it is shown beforehand; anything else to the last decision until then. Where there is none on that side, to the nearest.
 */
const decisionFinder = (made: readonly Fact[], facts: readonly Fact[]): DecisionFinder => {
  // Most events name their decision, so that nobody asks.
  let find: DecisionFinder | undefined;
  return (fact) => {
    find ??= knowingDecisions(made, facts);
    return find(fact);
  };
};

const knowingDecisions = (made: readonly Fact[], facts: readonly Fact[]): DecisionFinder => {
  const byCorrelation = new Map<string, Fact[]>();
  for (const fact of made) {
    const { correlation } = fact.links;
    if (correlation === undefined) continue;
    byCorrelation.set(correlation, [...(byCorrelation.get(correlation) ?? []), fact]);
  }
  const named = new Set(
    facts.flatMap(({ links: { decision } }) => (decision === undefined ? [] : [decision])),
  );
  const [onlyNamed] = named.size === 1 ? named : [];
  return (fact) => {
    if (!ABOUT_DECISIONS.test(fact.type)) return undefined;
    const { correlation } = fact.links;
    const near = (correlation === undefined ? undefined : byCorrelation.get(correlation)) ?? made;
    const after = near.find((each) => each.at >= fact.at);
    const before = near.findLast((each) => each.at <= fact.at);
    const found = NOTICE_SHOWN.includes(fact.type) ? (after ?? before) : (before ?? after);
    return found?.links.decision ?? onlyNamed;
  };
};

const FOLLOWS_OBJECTION: readonly string[] = [
  "objection.acknowledged",
  "objection.escalated",
  "objection.resolved",
];

/** What was opened, by its id; of several events that open one the first. */
const openedBy = (
  facts: readonly Fact[],
  isOpening: (fact: Fact) => boolean,
  idOf: (fact: Fact) => string,
): ReadonlyMap<string, Fact> => {
  const opened = new Map<string, Fact>();
  for (const fact of facts) if (isOpening(fact) && !opened.has(idOf(fact))) opened.set(idOf(fact), fact);
  return opened;
};

/** Facts by what they belong to, each list in order, as the facts are. */
const grouped = <Key>(facts: readonly Fact[], keyOf: (fact: Fact) => Key | undefined): Map<Key, Fact[]> => {
  const groups = new Map<Key, Fact[]>();
  for (const fact of facts) {
    const key = keyOf(fact);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(fact);
    else groups.set(key, [fact]);
  }
  return groups;
};

/** Of what shares the most with the fact, the last that was opened until then, or else the first. */
const meantBy = (fact: Fact, opened: ReadonlyMap<string, Fact>): string | undefined => {
  const { decision, correlation } = fact.links;
  const candidates = [...opened];
  const sharing = (shares: (links: Fact["links"]) => boolean) =>
    candidates.filter(([, each]) => shares(each.links));
  const near = [
    decision === undefined ? [] : sharing((links) => links.decision === decision),
    correlation === undefined ? [] : sharing((links) => links.correlation === correlation),
    candidates,
  ].find(({ length }) => length > 0);
  return (near?.findLast(([, each]) => each.at <= fact.at) ?? near?.[0])?.[0];
};

const objectionsOf = (facts: readonly Fact[], decisionOf: DecisionFinder): readonly Objection[] => {
  // Most cases have none, and this is asked at every event.
  if (!facts.some(({ type, links }) => links.objection !== undefined || FOLLOWS_OBJECTION.includes(type)))
    return [];
  const isReceived = ({ type }: Fact): boolean => OBJECTION_RECEIVED.includes(type);
  const received = openedBy(facts, isReceived, ({ links, id }) => links.objection ?? id);
  const members = grouped(facts, (fact) => {
    if (fact.links.objection !== undefined) return fact.links.objection;
    return FOLLOWS_OBJECTION.includes(fact.type) ? (meantBy(fact, received) ?? fact.id) : undefined;
  });
  return [...members].map(([id, own]) => {
    const opening = received.get(id);
    const decisionId = firstDefined(own, ({ links }) => links.decision) ?? firstDefined(own, decisionOf);
    return {
      id,
      facts: own,
      decisionId,
      received: opening,
      acknowledged: own.find(({ type }) => type === "objection.acknowledged"),
      escalated: own.find(({ type }) => type === "objection.escalated"),
      resolved: own.findLast(({ type }) => type === "objection.resolved"),
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

/** Each trigger is answered by the first completion after it that answers no other; a completion that nothing triggered is an orphan. */
const reviewsOf = (
  facts: readonly Fact[],
  belongsTo: (fact: Fact) => string | undefined,
): readonly Review[] => {
  const isReview = ({ type }: Fact): boolean =>
    type === "decision.human_review_triggered" || REVIEW_COMPLETED.includes(type);
  const ofReviews = facts.filter(isReview);
  if (ofReviews.length === 0) return [];
  const byDecision = grouped(ofReviews, (fact) => belongsTo(fact) ?? NO_DECISION);
  return [...byDecision].flatMap(([decision, own]) => {
    const reviews: { id: string; triggered: Fact | undefined; completed: Fact | undefined }[] = [];
    for (const fact of own) {
      const isCompletion = REVIEW_COMPLETED.includes(fact.type);
      const open = isCompletion ? reviews.find(({ completed }) => completed === undefined) : undefined;
      if (open) open.completed = fact;
      else if (isCompletion) reviews.push({ id: fact.id, triggered: undefined, completed: fact });
      else reviews.push({ id: fact.id, triggered: fact, completed: undefined });
    }
    const decisionId = decision === NO_DECISION ? undefined : decision;
    return reviews.map((review) => ({ ...review, decisionId }));
  });
};

const NO_DECISION = "";

const decisionsOf = (parts: {
  facts: readonly Fact[];
  belongsTo: (fact: Fact) => string | undefined;
  objections: readonly Objection[];
  reviews: readonly Review[];
}): readonly Decision[] => {
  const { facts, belongsTo, objections, reviews } = parts;
  const made = openedBy(
    facts,
    ({ type }) => type === DECISION_MADE,
    ({ links, id }) => links.decision ?? id,
  );
  return Array.from(grouped(facts, belongsTo), ([id, own]) => {
    return {
      id,
      facts: own,
      made: made.get(id),
      notices: own.filter(({ type }) => NOTICE_SHOWN.includes(type)),
      explanations: own.filter(({ type }) => type === "decision.explanation_provided"),
      reversals: own.filter(({ type }) => type === "decision.decision_reversed"),
      objections: objections.filter(({ decisionId }) => decisionId === id),
      reviews: reviews.filter(({ decisionId }) => decisionId === id),
    };
  });
};

const INCIDENT_REPORTED = "incident.reported_to_authority";
const INCIDENT_MITIGATED = "incident.mitigated";

const incidentsOf = (facts: readonly Fact[]): readonly Incident[] => {
  if (!facts.some(({ type, links }) => links.incident !== undefined || type.startsWith("incident.")))
    return [];
  const detected = openedBy(
    facts,
    ({ type }) => type === INCIDENT_DETECTED,
    ({ links, id }) => links.incident ?? id,
  );
  const members = grouped(facts, (fact) => {
    if (fact.links.incident !== undefined) return fact.links.incident;
    const follows = fact.type === INCIDENT_REPORTED || fact.type === INCIDENT_MITIGATED;
    return follows ? (meantBy(fact, detected) ?? fact.id) : undefined;
  });
  return [...members].map(([id, own]) => ({
    id,
    facts: own,
    detected: detected.get(id),
    reports: own.filter(({ type }) => type === INCIDENT_REPORTED),
    mitigated: own.find(({ type }) => type === INCIDENT_MITIGATED),
  }));
};
