/** Nordbank, which does not exist: its AI systems, and the words of its people. */

export interface System {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly model: string;
  readonly riskTier: "limited" | "high";
  readonly legalBases: readonly string[];
  readonly owner: string;
  readonly oversight: string;
  readonly domain: string;
  readonly autonomy: string;
  readonly language: string;
  /** UTC hours in which its people work, the first and the last. */
  readonly hours: readonly [number, number];
  readonly short: string;
  readonly decisions: number;
  readonly adverse: number;
  readonly adverseOutcome: string;
  readonly reasons: readonly [string, ...string[]];
}

export const CREDIT_EU: System = {
  id: "consumer-credit-eu",
  name: "Consumer credit, Copenhagen",
  version: "4.2.0",
  model: "scorecard-eu",
  riskTier: "high",
  legalBases: ["gdpr_art_22", "eu_ai_act_art_6"],
  owner: "Retail Lending",
  oversight: "Freja Holm",
  domain: "finance_credit_evaluation",
  autonomy: "full_auto",
  language: "en",
  hours: [7, 17],
  short: "ceu",
  decisions: 190,
  adverse: 0.34,
  adverseOutcome: "denied",
  reasons: [
    "Monthly obligations exceed 40 % of net income",
    "Payment default within the last 12 months",
    "Employment shorter than 6 months",
  ],
};

export const CREDIT_KR: System = {
  id: "consumer-credit-kr",
  name: "Consumer credit, Seoul branch",
  version: "2.7.1",
  model: "scorecard-kr",
  riskTier: "high",
  legalBases: ["pipa_37_2_kr", "credit_info_36_2_kr", "ai_basic_law_kr"],
  owner: "Seoul Branch",
  oversight: "Park Seo-yeon",
  domain: "finance_credit_evaluation",
  autonomy: "full_auto",
  language: "ko",
  hours: [0, 9],
  short: "ckr",
  decisions: 150,
  adverse: 0.36,
  adverseOutcome: "denied",
  reasons: [
    "신용평점이 기준에 미달합니다",
    "총부채원리금상환비율이 40%를 초과합니다",
    "최근 12개월 내 연체 기록이 있습니다",
  ],
};

export const FRAUD: System = {
  id: "payment-fraud-screening",
  name: "Payment fraud screening",
  version: "11.0.3",
  model: "fraud-net",
  riskTier: "limited",
  legalBases: ["gdpr_art_22"],
  owner: "Payments",
  oversight: "Jonas Lindqvist",
  domain: "finance_fraud_detection",
  autonomy: "full_auto",
  language: "en",
  hours: [0, 23],
  short: "pfs",
  decisions: 150,
  adverse: 0.28,
  adverseOutcome: "flagged",
  reasons: ["Unusual country for this card", "Amount far above the customer's pattern"],
};

export const HIRING: System = {
  id: "hiring-screener-ny",
  name: "Hiring screener, New York office",
  version: "1.9.0",
  model: "cv-rank",
  riskTier: "high",
  legalBases: ["nyc_ll144"],
  owner: "People & Culture",
  oversight: "Dana Whitfield",
  domain: "employment_recruitment",
  autonomy: "human_on_the_loop",
  language: "en",
  hours: [13, 22],
  short: "hny",
  decisions: 40,
  adverse: 0.3,
  adverseOutcome: "rejected",
  reasons: ["Required licence is missing", "Experience below the level of the post"],
};

export const AML: System = {
  id: "transaction-monitoring",
  name: "Transaction monitoring",
  version: "6.1.2",
  model: "aml-graph",
  riskTier: "high",
  legalBases: ["eu_ai_act_art_6"],
  owner: "Financial Crime",
  oversight: "Mikkel Aas",
  domain: "finance_fraud_detection",
  autonomy: "human_in_the_loop",
  language: "en",
  hours: [6, 18],
  short: "aml",
  decisions: 60,
  adverse: 0.3,
  adverseOutcome: "flagged",
  reasons: ["Transfers just below the reporting threshold", "Circular transfers between new accounts"],
};

/** It decides nothing: it answers, and its answers are labeled. */
export const ASSISTANT: System = {
  id: "support-assistant",
  name: "Support assistant",
  version: "3.4.0",
  model: "nord-chat",
  riskTier: "limited",
  legalBases: ["eu_ai_act_art_50"],
  owner: "Customer Service",
  oversight: "Ida Sørensen",
  domain: "customer_support",
  autonomy: "advisory",
  language: "en",
  hours: [5, 22],
  short: "sup",
  decisions: 0,
  adverse: 0,
  adverseOutcome: "denied",
  reasons: ["None"],
};

export const SYSTEMS: readonly System[] = [CREDIT_EU, CREDIT_KR, FRAUD, HIRING, AML, ASSISTANT];

export const REVIEWERS: readonly [string, ...string[]] = ["r.madsen", "kim.hj", "a.berg", "t.okafor"];
