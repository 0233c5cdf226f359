/** The words of a classification: kinds of AI, autonomy, impact, and the laws with the place and date of their application. */

export const GENERATIVE_TYPES = [
  "llm",
  "agent",
  "generative_image",
  "generative_audio",
  "generative_video",
  "generative_multimodal",
] as const;

export const AI_TYPES = [
  ...GENERATIVE_TYPES,
  "predictive_ml",
  "recommender",
  "computer_vision",
  "speech",
  "biometric_identification",
  "emotion_recognition",
  "robotics_autonomous",
  "rule_based",
  "other",
] as const;
export type AiType = (typeof AI_TYPES)[number];

/** From the least to the most: `none` decides about nobody, `human_on_the_loop` lets a person step in afterwards. */
export const AUTONOMIES = [
  "none",
  "advisory",
  "human_in_the_loop",
  "human_on_the_loop",
  "full_auto",
] as const;
export type Autonomy = (typeof AUTONOMIES)[number];

/** `critical` concerns life and body. */
export const IMPACTS = ["low", "medium", "high", "critical"] as const;
export type Impact = (typeof IMPACTS)[number];

export const AUTONOMY_ALIASES: Readonly<Record<string, Autonomy>> = {
  fully_automated: "full_auto",
  automated: "full_auto",
  autonomous: "full_auto",
  semi_auto: "human_in_the_loop",
  hitl: "human_in_the_loop",
  human_review: "human_in_the_loop",
  hotl: "human_on_the_loop",
  supervised: "human_on_the_loop",
  assistive: "advisory",
  recommendation: "advisory",
  decision_support: "advisory",
};

export const IMPACT_ALIASES: Readonly<Record<string, Impact>> = {
  minimal: "low",
  moderate: "medium",
  severe: "critical",
};

export const JURISDICTIONS = ["kr", "eu", "us_nyc", "us_co"] as const;
export type Jurisdiction = (typeof JURISDICTIONS)[number];

interface Law {
  readonly title: string;
  readonly jurisdiction: Jurisdiction;
  /** RFC 3339 date; a clause may have a date of its own (rules.ts). */
  readonly appliesFrom: string;
}

const law = (title: string, jurisdiction: Jurisdiction, appliesFrom: string): Law => ({
  title,
  jurisdiction,
  appliesFrom,
});

/** Dates of the EU act as amended by Regulation (EU) 2026/1744. */
export const LAWS = {
  ai_basic_law_kr: law("AI Basic Act (Korea)", "kr", "2026-01-22"),
  pipa_37_2_kr: law("Personal Information Protection Act (Korea)", "kr", "2024-03-15"),
  credit_info_36_2_kr: law("Credit Information Act (Korea)", "kr", "2020-08-05"),
  eu_ai_act_art_5: law("EU AI Act, prohibited practices", "eu", "2025-02-02"),
  eu_ai_act_art_6: law("EU AI Act, high-risk systems", "eu", "2027-12-02"),
  eu_ai_act_art_50: law("EU AI Act, transparency", "eu", "2026-08-02"),
  eu_ai_act_art_51: law("EU AI Act, general-purpose models with systemic risk", "eu", "2025-08-02"),
  gdpr_art_22: law("GDPR, automated individual decisions", "eu", "2018-05-25"),
  nyc_ll144: law("New York City Local Law 144 (Administrative Code)", "us_nyc", "2023-07-05"),
  colorado_sb26_189: law("Colorado, automated decision-making technology", "us_co", "2027-01-01"),
} as const;
export type LegalBasis = keyof typeof LAWS;
