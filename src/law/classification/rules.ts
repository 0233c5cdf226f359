/**
 * The rules, one row each: when it applies, which tier it sets, what it cites, and what must be done. The tier of a system is the gravest of all
 * rules that apply; bases, clauses and obligations are their union. A product heuristic and not legal advice.
 */
import type { RiskTier } from "../../event/risk-tiers.ts";
import type { Facts } from "./facts.ts";
import type { ObligationCode } from "./obligations.ts";
import { IMPACTS, type Impact, LAWS, type LegalBasis } from "./vocabulary.ts";

export interface Citation {
  readonly legal_basis: LegalBasis;
  readonly ref: string;
  readonly title: string;
  /** RFC 3339 date. */
  readonly applies_from: string;
}

export interface Rule {
  readonly id: string;
  /** Absent if only duties follow. */
  readonly tier?: RiskTier;
  readonly holds: (facts: Facts) => boolean;
  /** Empty for a rule that applies by itself, whatever the jurisdiction. */
  readonly cites: (facts: Facts) => readonly Citation[];
  readonly obligations: (facts: Facts) => readonly ObligationCode[];
  readonly because: string;
}

const cite = (legal_basis: LegalBasis, ref: string, appliesFrom?: string): Citation => {
  const { title, appliesFrom: lawAppliesFrom } = LAWS[legal_basis];
  return { legal_basis, ref, title, applies_from: appliesFrom ?? lawAppliesFrom };
};

/** No human acts before the effect: a person who can only step in afterwards does not count. */
const isAutomated = ({ autonomy }: Facts): boolean =>
  autonomy === "full_auto" || autonomy === "human_on_the_loop";
const isHelper = ({ autonomy }: Facts): boolean => autonomy === "advisory" || autonomy === "none";
const hasImpact = ({ impact }: Facts, atLeast: Impact): boolean =>
  IMPACTS.indexOf(impact) >= IMPACTS.indexOf(atLeast);
const isEmployment = ({ domainName }: Facts): boolean => domainName.startsWith("employment_");
const isEducation = ({ domainName }: Facts): boolean => domainName.startsWith("education_");
const isEmotion = ({ aiType, domainName }: Facts): boolean =>
  aiType === "emotion_recognition" || domainName === "emotion_recognition";

/** The points of Annex III that name it: those of its domain, and those of what it does. */
const annexPoints = (facts: Facts): readonly string[] => {
  const { annexIII, annexNeedsPerson } = facts.domain;
  const isNamed = annexIII !== undefined && (!annexNeedsPerson || facts.hasPersonalData);
  const points = [...(isNamed ? [annexIII] : []), ...(isEmotion(facts) ? ["1(c)"] : [])];
  return [...new Set(points)];
};

const isInAnnexIII = (facts: Facts): boolean => annexPoints(facts).length > 0;

/** Article 6(3): a narrow auxiliary system without consequences. Profiling of persons always excludes it. */
const isCarvedOut = (facts: Facts): boolean =>
  isInAnnexIII(facts) && isHelper(facts) && facts.impact === "low" && !facts.hasPersonalData;

/** An area of article 2(4); the items that speak of natural persons only where personal data are processed. */
const isKoreanArea = ({ domain: { kr, krNeedsPerson }, hasPersonalData }: Facts): boolean =>
  kr !== undefined && (!krNeedsPerson || hasPersonalData);

const isKoreanHighImpact = (facts: Facts): boolean =>
  isKoreanArea(facts) && isAutomated(facts) && hasImpact(facts, "medium");

/** `다, 라` as items of a paragraph. */
const itemsOf = (items = ""): string =>
  items
    .split(", ")
    .map((item) => `(${item})`)
    .join("");

const isHarmlessChatbot = (facts: Facts): boolean =>
  facts.domainName === "general_chatbot" &&
  facts.impact === "low" &&
  !facts.hasPersonalData &&
  facts.isGenerative &&
  !facts.isIndistinguishable;

const isGenerative = ({ isGenerative: generative, domain }: Facts): boolean =>
  generative && !domain.isInternal;

const CEASE: readonly ObligationCode[] = ["lifecycle_registration", "log_retention", "cease_use"];

const EU_HIGH_RISK: readonly ObligationCode[] = [
  "pre_use_notice",
  "decision_logging",
  "explanation",
  "human_oversight",
  "risk_review",
  "lifecycle_registration",
  "performance_monitoring",
  "incident_reporting",
  "log_retention",
];

const KR_HIGH_IMPACT: readonly ObligationCode[] = [
  "pre_use_notice",
  "policy_disclosure",
  "decision_logging",
  "explanation",
  "human_oversight",
  "objection_handling",
  "impact_assessment",
  "risk_review",
  "lifecycle_registration",
  "log_retention",
];

const SYSTEMIC_FLOPS = 1e25;
const KR_FLOPS = 1e26;

/** In the order in which an answer names them. */
export const RULES: readonly Rule[] = [
  {
    id: "P1",
    tier: "prohibited",
    holds: ({ domain }) => domain.practice !== undefined,
    cites: ({ domain, domainName }) => [
      cite(
        "eu_ai_act_art_5",
        domain.practice ?? "5(1)",
        domainName === "nonconsensual_intimate_imagery" ? "2026-12-02" : undefined,
      ),
    ],
    obligations: () => CEASE,
    because: "the use is a prohibited practice",
  },
  {
    id: "P2",
    tier: "prohibited",
    holds: (facts) => facts.aiType === "emotion_recognition" && (isEmployment(facts) || isEducation(facts)),
    cites: () => [cite("eu_ai_act_art_5", "5(1)(f)")],
    obligations: () => CEASE,
    because: "emotions may not be inferred at work or in education",
  },
  {
    id: "P3",
    tier: "prohibited",
    holds: (facts) =>
      facts.domainName === "law_enforcement_risk_assessment" && isAutomated(facts) && facts.hasPersonalData,
    cites: () => [cite("eu_ai_act_art_5", "5(1)(d)")],
    obligations: () => CEASE,
    because: "the risk that a person commits an offence may not be judged by profiling alone",
  },
  {
    id: "H1",
    tier: "high",
    holds: (facts) => isInAnnexIII(facts) && !isCarvedOut(facts),
    cites: (facts) => [cite("eu_ai_act_art_6", `6(2), Annex III ${annexPoints(facts).join(", ")}`)],
    obligations: ({ domain }) =>
      domain.needsRightsAssessment ? [...EU_HIGH_RISK, "impact_assessment"] : EU_HIGH_RISK,
    because: "the use is listed in Annex III of the EU AI Act",
  },
  {
    id: "H2",
    tier: "high",
    holds: isKoreanHighImpact,
    cites: ({ domain }) => [cite("ai_basic_law_kr", `2(4)${itemsOf(domain.kr)}, 34(1)`)],
    obligations: () => KR_HIGH_IMPACT,
    because: "the area is one of the Korean act, the effect is significant, and no human decides",
  },
  {
    id: "H3",
    tier: "high",
    holds: ({ domain }) => domain.annexI !== undefined,
    cites: ({ domain }) => [cite("eu_ai_act_art_6", `6(1), Annex I (${domain.annexI})`, "2028-08-02")],
    obligations: () => EU_HIGH_RISK,
    because: "it is part of a product that the EU regulates",
  },
  {
    id: "H4",
    tier: "high",
    holds: (facts) =>
      facts.domain.kr === undefined &&
      isAutomated(facts) &&
      hasImpact(facts, "high") &&
      facts.hasPersonalData,
    cites: () => [cite("ai_basic_law_kr", "2(4)(사)")],
    obligations: () => KR_HIGH_IMPACT,
    because: "it judges persons with serious effect on their rights and duties, and no human decides",
  },
  {
    id: "L1",
    tier: "limited",
    holds: (facts) => isGenerative(facts) && !isHarmlessChatbot(facts),
    cites: ({ isIndistinguishable }) => [
      cite("ai_basic_law_kr", isIndistinguishable ? "31(1), (2), (3)" : "31(1), (2)"),
      cite("eu_ai_act_art_50", isIndistinguishable ? "50(1), (2), (4)" : "50(1), (2)"),
    ],
    obligations: () => ["pre_use_notice", "output_labeling"],
    because: "it generates content",
  },
  {
    id: "L0",
    tier: "low",
    holds: isHarmlessChatbot,
    cites: () => [cite("ai_basic_law_kr", "31(1)"), cite("eu_ai_act_art_50", "50(1)")],
    obligations: () => ["pre_use_notice"],
    because: "it only answers general questions; that it is AI must be told",
  },
  {
    id: "L2",
    tier: "limited",
    holds: (facts) => isEmotion(facts) || facts.domainName === "biometric_categorisation",
    cites: () => [cite("eu_ai_act_art_50", "50(3)")],
    obligations: () => ["pre_use_notice"],
    because: "it reads emotions or sorts people by their bodies",
  },
  {
    id: "L3",
    tier: "limited",
    holds: (facts) => facts.domain.isInteractive === true && !facts.isGenerative,
    cites: () => [cite("eu_ai_act_art_50", "50(1)")],
    obligations: () => ["pre_use_notice"],
    because: "people talk to it",
  },
  {
    id: "L4",
    tier: "limited",
    holds: isCarvedOut,
    cites: () => [cite("eu_ai_act_art_6", "6(3), (4)")],
    obligations: () => ["risk_review", "lifecycle_registration"],
    because: "the use is listed in Annex III, but it only helps, without impact and without personal data",
  },
  {
    id: "L6",
    tier: "limited",
    holds: (facts) => isKoreanArea(facts) && !isKoreanHighImpact(facts),
    cites: () => [cite("ai_basic_law_kr", "33(1)")],
    obligations: () => ["risk_review"],
    because: "the area is one of the Korean act, so it must be reviewed beforehand whether it is high-impact",
  },
  {
    id: "R1",
    tier: "limited",
    holds: (facts) =>
      facts.hasPersonalData &&
      isAutomated(facts) &&
      hasImpact(facts, "medium") &&
      !facts.domain.isPublicAuthority,
    cites: () => [cite("pipa_37_2_kr", "37-2")],
    obligations: () => [
      "policy_disclosure",
      "decision_logging",
      "explanation",
      "human_oversight",
      "objection_handling",
    ],
    because: "it decides about persons automatically (PIPA 37-2)",
  },
  {
    id: "R2",
    tier: "limited",
    holds: (facts) =>
      facts.domainName === "finance_credit_evaluation" && facts.hasPersonalData && isAutomated(facts),
    cites: () => [cite("credit_info_36_2_kr", "36-2")],
    obligations: () => ["explanation", "objection_handling"],
    because: "it evaluates credit automatically",
  },
  {
    id: "R3",
    tier: "limited",
    holds: (facts) =>
      facts.hasPersonalData &&
      isAutomated(facts) &&
      hasImpact(facts, "high") &&
      !facts.domain.isLawEnforcement,
    cites: () => [cite("gdpr_art_22", "22")],
    obligations: () => ["human_oversight"],
    because: "it decides about persons automatically, with serious effect (GDPR 22)",
  },
  {
    id: "R4",
    tier: "limited",
    holds: (facts) => isEmployment(facts) && !isHelper(facts),
    cites: () => [cite("nyc_ll144", "20-871")],
    obligations: () => ["pre_use_notice", "policy_disclosure", "bias_audit"],
    because: "it is an automated employment decision tool in New York City",
  },
  {
    id: "R5",
    tier: "limited",
    holds: (facts) => facts.domain.colorado === true && facts.hasPersonalData && facts.autonomy !== "none",
    cites: () => [cite("colorado_sb26_189", "SB 26-189")],
    obligations: () => ["pre_use_notice", "explanation", "human_oversight", "log_retention"],
    because: "it takes part in a consequential decision in Colorado",
  },
  {
    id: "X1",
    holds: ({ trainingFlops }) => trainingFlops >= SYSTEMIC_FLOPS,
    cites: ({ trainingFlops }) => [
      cite("eu_ai_act_art_51", "51(2)"),
      ...(trainingFlops >= KR_FLOPS ? [cite("ai_basic_law_kr", "32, Decree 24")] : []),
    ],
    obligations: () => ["risk_review", "incident_reporting"],
    because: "so much computing went into its training that the model may pose systemic risks",
  },
  {
    id: "U1",
    tier: "limited",
    holds: ({ isKnownDomain }) => !isKnownDomain,
    cites: () => [],
    obligations: () => [],
    because: "its domain is not known, and what is not known is not low",
  },
];
