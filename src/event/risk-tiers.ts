/** The risk tiers of an AI system (SPEC 2.1), from the mildest to the gravest. */
export const RISK_TIERS = ["low", "limited", "high", "prohibited"] as const;
export type RiskTier = (typeof RISK_TIERS)[number];
