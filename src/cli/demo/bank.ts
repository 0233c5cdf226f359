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
  /** UTC hours in which its people work, the first and the last. */
  readonly hours: readonly [number, number];
  readonly decisions: number;
  readonly adverse: { readonly share: number; readonly outcome: string };
  readonly reasons: readonly [string, ...string[]];
}

const CREDIT = {
  domain: "finance_credit_evaluation",
  riskTier: "high",
  autonomy: "full_auto",
  adverse: { share: 0.35, outcome: "denied" },
} as const;

export const CREDIT_EU: System = {
  ...CREDIT,
  id: "consumer-credit-eu",
  name: "Consumer credit, Copenhagen",
  version: "4.2.0",
  model: "scorecard-eu",
  legalBases: ["gdpr_art_22", "eu_ai_act_art_6"],
  owner: "Retail Lending",
  oversight: "Freja Holm",
  hours: [7, 17],
  decisions: 190,
  reasons: ["Monthly obligations exceed 40 % of net income", "Payment default within the last 12 months"],
};

export const CREDIT_KR: System = {
  ...CREDIT,
  id: "consumer-credit-kr",
  name: "Consumer credit, Seoul branch",
  version: "2.7.1",
  model: "scorecard-kr",
  legalBases: ["pipa_37_2_kr", "credit_info_36_2_kr", "ai_basic_law_kr"],
  owner: "Seoul Branch",
  oversight: "Park Seo-yeon",
  hours: [0, 9],
  decisions: 150,
  reasons: ["신용평점이 기준에 미달합니다", "총부채원리금상환비율이 40%를 초과합니다"],
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
  hours: [0, 23],
  decisions: 150,
  adverse: { share: 0.28, outcome: "flagged" },
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
  hours: [13, 22],
  decisions: 40,
  adverse: { share: 0.3, outcome: "rejected" },
  reasons: ["Required licence is missing", "Experience below the level of the post"],
};

/** Nobody has named who oversees it. */
export const AML: System = {
  id: "transaction-monitoring",
  name: "Transaction monitoring",
  version: "6.1.2",
  model: "aml-graph",
  riskTier: "high",
  legalBases: ["eu_ai_act_art_6"],
  owner: "Financial Crime",
  oversight: "",
  domain: "finance_fraud_detection",
  autonomy: "human_in_the_loop",
  hours: [6, 18],
  decisions: 60,
  adverse: { share: 0.3, outcome: "flagged" },
  reasons: ["Transfers just below the reporting threshold", "Circular transfers between new accounts"],
};

export const SYSTEMS: readonly System[] = [CREDIT_EU, CREDIT_KR, FRAUD, HIRING, AML];
