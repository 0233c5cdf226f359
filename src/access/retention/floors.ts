/**
 * How long the laws require events to be kept, as data: one row per legal basis, with the article. A product heuristic, not legal
 * advice: if a text differs, correct the row. Renaming or adding a row needs a new version of the view `events`, which stores the
 * class; changing days does not.
 */
import { RISK_TIERS } from "../../event/risk-tiers.ts";

/**
 * The most days that this many months or years can have (March to August 184, five years two leap days), so that nothing expires a day
 * before the law allows it.
 */
const SIX_MONTHS = { days: 184, span: "6 months" };
const ONE_YEAR = { days: 366, span: "1 year" };
const THREE_YEARS = { days: 1096, span: "3 years" };
const FOUR_YEARS = { days: 1461, span: "4 years" };
const FIVE_YEARS = { days: 1827, span: "5 years" };

export interface Floor {
  readonly days: number;
  readonly span: string;
  readonly clause: string;
}

/** Applies to every event: nothing expires earlier. */
export const GENERAL_FLOOR: Floor = {
  ...SIX_MONTHS,
  clause: "EU AI Act, art. 19(1) and 26(6): logs of high-risk systems are kept at least six months",
};

/** By legal basis; a star at the end stands for any rest. If several apply, the longest wins. */
export const LEGAL_FLOORS = {
  ai_basic_law_kr: {
    ...FIVE_YEARS,
    clause: "AI Basic Act (Korea), Enforcement Decree art. 27(2): evidence of the measures of art. 34(1)",
  },
  feha_ads_us_ca: {
    ...FOUR_YEARS,
    clause: "California FEHA regulations on automated-decision systems, 2 CCR § 11013(c)",
  },
  colorado_sb26_189: {
    ...THREE_YEARS,
    clause:
      "Colorado SB 26-189, C.R.S. § 6-1-1702(4) for developers and § 6-1-1703 for deployers: records that show compliance",
  },
  "eu_ai_act_*": {
    ...SIX_MONTHS,
    clause: "EU AI Act, art. 19(1) for providers and 26(6) for deployers: automatically generated logs",
  },
} as const satisfies Readonly<Record<string, Floor>>;

export type FloorName = keyof typeof LEGAL_FLOORS;
const isFloorName = (text: string): text is FloorName => Object.hasOwn(LEGAL_FLOORS, text);
export const FLOOR_NAMES: readonly FloorName[] = Object.keys(LEGAL_FLOORS).filter(isFloorName);

/** `unknown`: the event names no tier. */
export const RETENTION_TIERS = [...RISK_TIERS, "unknown"] as const;
export type RetentionTier = (typeof RETENTION_TIERS)[number];

/**
 * Ages of a tier until the policy names that tier: our choice, not a law's. Undefined: kept until the policy names the tier. An
 * unknown tier gets the longest, to be careful.
 */
export const TIER_AGES: Readonly<
  Record<RetentionTier, { readonly days: number; readonly span: string } | undefined>
> = {
  low: ONE_YEAR,
  limited: THREE_YEARS,
  high: FIVE_YEARS,
  prohibited: undefined,
  unknown: FIVE_YEARS,
};
