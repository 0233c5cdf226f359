/** Classifies a request. Pure: SDKs and the console use it in the same way as the service. */
import { RISK_TIERS, type RiskTier } from "../../event/risk-tiers.ts";
import { readFacts } from "./facts.ts";
import { OBLIGATIONS, type Obligation, type ObligationCode, type Provisions } from "./obligations.ts";
import type { Classification, ClassificationRequest } from "./request.ts";
import { type Citation, RULES, type Rule } from "./rules.ts";
import { JURISDICTIONS, type Jurisdiction, LAWS, type LegalBasis } from "./vocabulary.ts";

/** Changes with every change of a rule, and names the state of the law that the rules follow. */
const RULESET_VERSION = "2026-11-29";

interface Match {
  readonly rule: Rule;
  readonly citations: readonly Citation[];
  readonly obligations: readonly ObligationCode[];
}

export const classify = (request: ClassificationRequest): Classification => {
  const { facts, warnings, confidence } = readFacts(request);
  const jurisdictions = request.jurisdictions ?? JURISDICTIONS;
  const matches = strictest(
    RULES.flatMap((rule): Match[] => {
      if (!rule.holds(facts)) return [];
      const cited = rule.cites(facts);
      const citations = cited.filter(({ legal_basis }) =>
        isOf(jurisdictions, LAWS[legal_basis].jurisdiction),
      );
      const isElsewhere = cited.length > 0 && citations.length === 0;
      return isElsewhere ? [] : [{ rule, citations, obligations: rule.obligations(facts) }];
    }),
  );
  const tier = gravest(matches);
  const citations = matches.flatMap((match) => match.citations);
  const obligations = distinct(matches.flatMap((match) => match.obligations)).flatMap((code) =>
    obligationOf(code, matches, jurisdictions),
  );
  return {
    risk_tier: tier,
    primary_category: tier,
    reasoning: reasoningFor(tier, matches),
    legal_bases: distinct(citations.map(({ legal_basis }) => legal_basis)),
    cited_clauses: citations.map((citation) => ({ ...citation, type: citation.legal_basis })),
    obligations,
    recommended_actions: obligations.map(actionOf),
    matched_rules: matches.map(({ rule }) => rule.id),
    ruleset_version: RULESET_VERSION,
    normalized_input: {
      domain: facts.domainName,
      ai_type: facts.aiType,
      decision_autonomy: facts.autonomy,
      user_impact: facts.impact,
      processes_personal_data: facts.hasPersonalData,
      generates_content: facts.isGenerative,
      indistinguishable_output: facts.isIndistinguishable,
      jurisdictions: [...jurisdictions],
    },
    warnings: [...warnings],
    confidence,
    llm_used: false,
  };
};

const isOf = (jurisdictions: readonly Jurisdiction[], jurisdiction: Jurisdiction): boolean =>
  jurisdictions.includes(jurisdiction);

/** The only duty for a prohibited system is to end it. */
const strictest = (matches: readonly Match[]): readonly Match[] => {
  const prohibitions = matches.filter(({ rule }) => rule.tier === "prohibited");
  return prohibitions.length > 0 ? prohibitions : matches;
};

const gravest = (matches: readonly Match[]): RiskTier =>
  RISK_TIERS.findLast((tier) => matches.some(({ rule }) => rule.tier === tier)) ?? "low";

const distinct = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];

type ObligationFound = Classification["obligations"][number] & { readonly code: ObligationCode };

const actionOf = ({
  code,
  clause,
  force,
}: ObligationFound): Classification["recommended_actions"][number] => ({
  code,
  priority: force === "must" ? "high" : "medium",
  description: OBLIGATIONS[code].action,
  clause,
});

/** Nothing where no requested law says anything of the duty. */
const obligationOf = (
  code: ObligationCode,
  matches: readonly Match[],
  jurisdictions: readonly Jurisdiction[],
): readonly ObligationFound[] => {
  const { eventTypes, cadence, deadlines, clauses }: Obligation = OBLIGATIONS[code];
  const naming = matches.filter(({ obligations }) => obligations.includes(code));
  const cited = naming.flatMap(({ citations }) => citations.map(({ legal_basis }) => legal_basis));
  const laws = wordingLaws(Object.keys(clauses).filter(isLaw), cited, jurisdictions);
  if (laws.length === 0) return [];
  // Article 35 of the Korean act asks for an effort; article 27 of the EU act obliges.
  const isEffort = code === "impact_assessment" && !naming.some(({ rule }) => rule.id === "H1");
  return [
    {
      code,
      event_types: [...eventTypes],
      cadence,
      deadline: wordsOf(deadlines, laws) || null,
      clause: wordsOf(clauses, laws),
      force: isEffort ? "should" : "must",
    },
  ];
};

/**
 * Which of the laws that say something of a duty give its words. For each place whose rules ask for it, these are the laws that the rules cite; where
 * none of those says anything, all of the place. If no such place has any, those of all places of the request.
 */
const wordingLaws = (
  saying: readonly LegalBasis[],
  cited: readonly LegalBasis[],
  jurisdictions: readonly Jurisdiction[],
): readonly LegalBasis[] => {
  const sayingIn = (place: Jurisdiction): readonly LegalBasis[] =>
    saying.filter((law) => LAWS[law].jurisdiction === place);
  const ofPlaces = distinct(cited.map((law) => LAWS[law].jurisdiction)).flatMap((place) => {
    const ofPlace = sayingIn(place);
    const citedThere = ofPlace.filter((law) => cited.includes(law));
    return citedThere.length > 0 ? citedThere : ofPlace;
  });
  return ofPlaces.length > 0 ? ofPlaces : jurisdictions.flatMap(sayingIn);
};

const isLaw = (text: string): text is LegalBasis => Object.hasOwn(LAWS, text);

const wordsOf = (provisions: Provisions, laws: readonly LegalBasis[]): string =>
  distinct(
    Object.entries(provisions).flatMap(([law, text]) => (isLaw(law) && laws.includes(law) ? text : [])),
  ).join("; ");

const reasoningFor = (tier: RiskTier, matches: readonly Match[]): string => {
  const disclaimer = "This is a product heuristic, not legal advice.";
  if (matches.length === 0) return `The tier is ${tier}: no rule matches. ${disclaimer}`;
  const reasons = matches.map(({ rule }) => `${rule.because} (${rule.id})`).join("; ");
  return `The tier is ${tier}: ${reasons}. ${disclaimer}`;
};
