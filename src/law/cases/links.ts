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
  grouped,
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
  readonly candidates?: never;
}

/** What no rule links, and what it could belong to: several things under its correlation, or none. */
export interface NoLink {
  readonly id?: never;
  readonly by?: never;
  readonly candidates: readonly Candidate[];
}

export interface Links {
  decisionOf(fact: Fact): Link | NoLink | undefined;
  decisionOfObjection(id: string): Link | NoLink;
  objectionOf(fact: Fact): Link | NoLink | undefined;
  soleObjectionOf(fact: Fact): string | undefined;
  incidentOf(fact: Fact): Link | NoLink | undefined;
}

/** Types of events that belong to a decision even if they only share its correlation. */
const ABOUT_DECISIONS =
  /^(decision|objection|transparency)\.|^(objection|human_review|disclosure_|watermark_)/;

const NO_LINK: NoLink = { candidates: [] };
const NONE: readonly string[] = [];

export const linksIn = (facts: readonly Fact[]): Links => {
  const decisionsUnder = namedUnder(facts, "decision");
  const objectionsUnder = namedUnder(facts, "objection");
  const incidentsUnder = namedUnder(facts, "incident");
  const naming = grouped(facts, ({ links }) => links.objection);
  const ofObjections = new Map<string, Link | NoLink>();
  const objectionsTo = new Map<string, string[]>();
  for (const [objection, those] of naming) {
    const link = decisionNamedBy(those, decisionsUnder);
    ofObjections.set(objection, link);
    if (link.id === undefined) continue;
    const others = objectionsTo.get(link.id);
    if (others) others.push(objection);
    else objectionsTo.set(link.id, [objection]);
  }
  const decisionOfObjection = (id: string): Link | NoLink => ofObjections.get(id) ?? NO_LINK;
  const soleObjectionOf = (fact: Fact): string | undefined => soleOf(objectionsUnder(fact));

  const objectionOf = (fact: Fact): Link | NoLink | undefined => {
    const { decision, objection } = fact.links;
    if (objection !== undefined) return { id: objection, by: "objection_id" };
    if (!FOLLOWS_OBJECTION.includes(fact.type)) return undefined;
    const near = objectionsUnder(fact);
    if (decision === undefined) return only("objection", near, "correlation_id");
    const own = objectionsTo.get(decision);
    if (own) return only("objection", own, "decision_id");
    // What names one decision does not continue an objection to another.
    const toNone = near.filter((id) => decisionOfObjection(id).id === undefined);
    return only("objection", toNone, "correlation_id");
  };

  const decisionOf = (fact: Fact): Link | NoLink | undefined => {
    const { decision, objection } = fact.links;
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
    const near = decisionsUnder(fact);
    // An objection under the correlation may name the decision under another one.
    const continued = objectionOf(fact)?.id ?? (near.length === 0 ? soleObjectionOf(fact) : undefined);
    const id = continued === undefined ? undefined : decisionOfObjection(continued).id;
    return id === undefined ? only("decision", near, "correlation_id") : { id, by: "correlation_id" };
  };

  const incidentOf = (fact: Fact): Link | NoLink | undefined => {
    if (fact.links.incident !== undefined) return { id: fact.links.incident, by: "incident_id" };
    return FOLLOWS_INCIDENT.includes(fact.type)
      ? only("incident", incidentsUnder(fact), "correlation_id")
      : undefined;
  };

  return { decisionOf, decisionOfObjection, objectionOf, soleObjectionOf, incidentOf };
};

const decisionRule = ({ bySubject, byOriginal }: Fact): LinkedBy =>
  bySubject ? "subject" : byOriginal ? "original_decision_id" : "decision_id";

type Under = (fact: Fact) => readonly string[];

/**
 * What the events under the correlation of a fact name, each once. A correlation that stands beside more than CASE_NEIGHBOURS_MAX holds no case together, and
 * so says nothing.
 */
const namedUnder = (facts: readonly Fact[], kind: LinkKind): Under => {
  // Grouped when first asked for: for most cases nobody asks.
  let found: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return ({ links: { correlation } }) => {
    if (correlation === undefined) return NONE;
    found ??= namesByCorrelation(facts, kind);
    const names = found.get(correlation);
    return names === undefined || names.size > CASE_NEIGHBOURS_MAX ? NONE : [...names];
  };
};

const namesByCorrelation = (facts: readonly Fact[], kind: LinkKind) => {
  const found = new Map<string, Set<string>>();
  for (const { links } of facts) {
    const { correlation, [kind]: name } = links;
    if (correlation === undefined || name === undefined) continue;
    const names = found.get(correlation);
    if (names) names.add(name);
    else found.set(correlation, new Set([name]));
  }
  return found;
};

const soleOf = (ids: readonly string[]): string | undefined => (ids.length === 1 ? ids[0] : undefined);

const only = (kind: CandidateKind, ids: readonly string[], by: LinkedBy): Link | NoLink => {
  const id = soleOf(ids);
  if (id !== undefined) return { id, by };
  return { candidates: ids.slice(0, CASE_NEIGHBOURS_MAX).map((each) => ({ kind, id: each })) };
};

/** By the facts that name an objection: the decision that one of them names, or else the only one under the correlation of one of them. */
const decisionNamedBy = (facts: readonly Fact[], decisionsUnder: Under): Link | NoLink => {
  for (const fact of facts) {
    const { decision } = fact.links;
    if (decision !== undefined) return { id: decision, by: decisionRule(fact) };
  }
  const near = facts.map(decisionsUnder).filter((those) => those.length > 0);
  return only("decision", near.find((those) => those.length === 1) ?? near.at(-1) ?? NONE, "correlation_id");
};
