/**
 * Which decision, objection or incident an event belongs to (DOMAIN 2b). Three named rules and no guesses: an explicit name; a correlation under which exactly
 * one stands; and, for a notice that has neither, the same asset and person (`bySubject` in fact.ts). Neither time, nor order, nor similarity links anything.
 * Pure, and a function of the set of facts.
 */
import { CASE_NEIGHBOURS_MAX } from "../../limits.ts";
import {
  type Fact,
  FOLLOWS_INCIDENT,
  FOLLOWS_OBJECTION,
  type LinkKind,
  type NamedKind,
  OBJECTION_RECEIVED,
} from "./fact.ts";

/** The rule that linked an event: the member that names the other thing, or `subject`. */
export const LINKED_BY = [
  "decision_id",
  "original_decision_id",
  "objection_id",
  "incident_id",
  "correlation_id",
  "subject",
] as const;
export type LinkedBy = (typeof LINKED_BY)[number];

export type CandidateKind = "decision" | NamedKind;

export interface Candidate {
  readonly kind: CandidateKind;
  readonly id: string;
}

export interface Link {
  readonly id: string;
  readonly by: LinkedBy;
}

/** What no rule links, and what it could belong to: several things under its correlation, or none. */
export interface NoLink {
  readonly id?: never;
  readonly by?: never;
  readonly candidates: readonly Candidate[];
}

export interface Links {
  /** Undefined for an event that is not about a decision. */
  decisionOf(fact: Fact): Link | NoLink | undefined;
  /** The decision that an objection is about. */
  decisionOfObjection(id: string): Link | NoLink;
  /** Undefined for an event that neither names an objection nor continues one. */
  objectionOf(fact: Fact): Link | NoLink | undefined;
  /** The only objection under the correlation of an event. */
  soleObjectionOf(fact: Fact): string | undefined;
  /** Undefined for an event that neither names an incident nor continues one. */
  incidentOf(fact: Fact): Link | NoLink | undefined;
}

/** Types of events that belong to a decision even if they only share its correlation. */
const ABOUT_DECISIONS =
  /^(decision|objection|transparency)\.|^(objection|human_review|disclosure_|watermark_)/;

const NO_LINK: NoLink = { candidates: [] };
const NONE: readonly string[] = [];

export const linksIn = (facts: readonly Fact[]): Links => {
  const [decisions, objections, incidents] = [
    namedUnder(facts, "decision"),
    namedUnder(facts, "objection"),
    namedUnder(facts, "incident"),
  ];
  const ofObjections = new Map<string, Link | NoLink>();
  const naming = facts.filter(({ links }) => links.objection !== undefined);
  if (naming.length > 0)
    for (const [id, those] of Map.groupBy(naming, ({ links }) => links.objection))
      if (id !== undefined) ofObjections.set(id, decisionNamedBy(those, decisions));
  const decisionOfObjection = (id: string): Link | NoLink => ofObjections.get(id) ?? NO_LINK;
  let byDecision: Named | undefined;
  const objectionsTo = (decision: string | undefined): readonly string[] => {
    if (decision === undefined || ofObjections.size === 0) return NONE;
    byDecision ??= byDecisions(ofObjections);
    return byDecision.get(decision) ?? NONE;
  };

  const objectionOf = ({ type, links }: Fact): Link | NoLink | undefined => {
    const { decision, objection, correlation } = links;
    if (objection !== undefined) return { id: objection, by: "objection_id" };
    if (!FOLLOWS_OBJECTION.includes(type)) return undefined;
    const own = objectionsTo(decision);
    if (own.length > 0) return only("objection", own, "decision_id");
    const near = under(objections, correlation);
    // What names one decision does not continue an objection to another.
    return only(
      "objection",
      decision === undefined ? near : near.filter((id) => decisionOfObjection(id).id === undefined),
      "correlation_id",
    );
  };

  const decisionOf = (fact: Fact): Link | NoLink | undefined => {
    const { decision, objection, correlation } = fact.links;
    if (decision !== undefined) return { id: decision, by: decisionRule(fact) };
    const isAbout = ABOUT_DECISIONS.test(fact.type);
    if (objection !== undefined) {
      const found = decisionOfObjection(objection);
      // What opens an objection is linked as the objection is.
      if (found.id !== undefined)
        return OBJECTION_RECEIVED.includes(fact.type) ? found : { id: found.id, by: "objection_id" };
      return isAbout ? found : undefined;
    }
    if (!isAbout) return undefined;
    const near = under(decisions, correlation);
    // An objection under the correlation may name the decision under another one.
    const sole = near.length === 0 ? soleOf(under(objections, correlation)) : undefined;
    const continued = objectionOf(fact)?.id ?? sole;
    const found = continued === undefined ? NO_LINK : decisionOfObjection(continued);
    return found.id === undefined
      ? only("decision", near, "correlation_id")
      : { id: found.id, by: "correlation_id" };
  };

  const soleObjectionOf = ({ links }: Fact): string | undefined =>
    soleOf(under(objections, links.correlation));

  const incidentOf = ({ type, links }: Fact): Link | NoLink | undefined => {
    if (links.incident !== undefined) return { id: links.incident, by: "incident_id" };
    return FOLLOWS_INCIDENT.includes(type)
      ? only("incident", under(incidents, links.correlation), "correlation_id")
      : undefined;
  };

  return { decisionOf, decisionOfObjection, objectionOf, soleObjectionOf, incidentOf };
};

const decisionRule = ({ bySubject, byOriginal }: Fact): LinkedBy =>
  bySubject ? "subject" : byOriginal ? "original_decision_id" : "decision_id";

/** By decision: the objections to it. */
const byDecisions = (ofObjections: ReadonlyMap<string, Link | NoLink>): Named => {
  const found = new Map<string, string[]>();
  for (const [objection, { id }] of ofObjections) {
    if (id === undefined) continue;
    const those = found.get(id);
    if (those) those.push(objection);
    else found.set(id, [objection]);
  }
  return found;
};

type Named = ReadonlyMap<string, readonly string[]>;

/** By correlation: what the events under it name, each once; of a crowd only as many as show that it is one. */
const namedUnder = (facts: readonly Fact[], kind: LinkKind): Named => {
  let found: Map<string, string[]> | undefined;
  for (const { links } of facts) {
    const { correlation, [kind]: name } = links;
    if (correlation === undefined || name === undefined) continue;
    found ??= new Map();
    const names = found.get(correlation);
    if (names === undefined) found.set(correlation, [name]);
    else if (names.length <= CASE_NEIGHBOURS_MAX && !names.includes(name)) names.push(name);
  }
  return found ?? NOTHING_NAMED;
};

const NOTHING_NAMED: Named = new Map();

/** A correlation that stands beside more than this holds no case together, and so says nothing. */
const under = (named: Named, correlation: string | undefined): readonly string[] => {
  const found = correlation === undefined ? undefined : named.get(correlation);
  return found === undefined || found.length > CASE_NEIGHBOURS_MAX ? NONE : found;
};

const soleOf = (ids: readonly string[]): string | undefined => (ids.length === 1 ? ids[0] : undefined);

const only = (kind: CandidateKind, ids: readonly string[], by: LinkedBy): Link | NoLink => {
  const id = soleOf(ids);
  if (id !== undefined) return { id, by };
  if (ids.length === 0) return NO_LINK;
  return { candidates: ids.slice(0, CASE_NEIGHBOURS_MAX).map((each) => ({ kind, id: each })) };
};

/** By the facts that name an objection: the decision that one of them names, or else the only one under the correlation of one of them. */
const decisionNamedBy = (facts: readonly Fact[], decisions: Named): Link | NoLink => {
  for (const fact of facts) {
    const { decision } = fact.links;
    if (decision !== undefined) return { id: decision, by: decisionRule(fact) };
  }
  let possible = NONE;
  for (const { links } of facts) {
    const near = under(decisions, links.correlation);
    if (near.length === 1) return only("decision", near, "correlation_id");
    if (near.length > 0) possible = near;
  }
  return only("decision", possible, "correlation_id");
};
