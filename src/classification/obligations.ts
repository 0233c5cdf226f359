/** What must be done, and the events that are evidence of it. */
import type { LegalBasis } from "./vocabulary.ts";

/** What one law says. */
export type Provision = readonly [law: LegalBasis, text: string];

export interface Obligation {
  /** Event types of this API, the current name first. */
  readonly eventTypes: readonly string[];
  readonly cadence: string;
  readonly deadlines: readonly Provision[];
  /** A law without an entry does not require it. */
  readonly clauses: readonly Provision[];
}

export const OBLIGATIONS = {
  pre_use_notice: {
    eventTypes: ["transparency.notice_shown", "disclosure_shown"],
    cadence: "for each person or session, before the first decision or answer",
    deadlines: [["nyc_ll144", "New York City: 10 business days before use"]],
    clauses: [
      ["ai_basic_law_kr", "KR 31(1), Decree 23(1)"],
      ["eu_ai_act_art_6", "EU 26(11)"],
      ["eu_ai_act_art_50", "EU 50(1), (3), (5)"],
      ["nyc_ll144", "LL144"],
      ["colorado_sb26_189", "CO SB 26-189"],
    ],
  },
  policy_disclosure: {
    eventTypes: ["transparency.policy_disclosed"],
    cadence: "once per version of the asset, until it is replaced",
    deadlines: [],
    clauses: [
      ["ai_basic_law_kr", "KR Decree 27(1)"],
      ["pipa_37_2_kr", "PIPA Decree 44-4"],
      ["nyc_ll144", "LL144"],
    ],
  },
  output_labeling: {
    eventTypes: ["transparency.result_labeled", "watermark_applied"],
    cadence: "for each output",
    deadlines: [],
    clauses: [
      ["ai_basic_law_kr", "KR 31(2), (3), Decree 23(2)"],
      ["eu_ai_act_art_50", "EU 50(2), (4)"],
    ],
  },
  decision_logging: {
    eventTypes: ["decision.automated_decision_made", "ai_inference"],
    cadence: "for each decision, with hashes of context, outcome and subject",
    deadlines: [],
    clauses: [
      ["eu_ai_act_art_6", "EU 12, 19, 26(6)"],
      ["ai_basic_law_kr", "KR 34(1)5"],
    ],
  },
  explanation: {
    eventTypes: ["decision.explanation_provided"],
    cadence: "on request",
    deadlines: [
      ["pipa_37_2_kr", "30 days"],
      ["colorado_sb26_189", "30 days"],
    ],
    clauses: [
      ["pipa_37_2_kr", "PIPA 37-2(2)"],
      ["credit_info_36_2_kr", "CIA 36-2"],
      ["ai_basic_law_kr", "KR 3(2), 34(1)2"],
      ["eu_ai_act_art_6", "EU 86"],
      ["colorado_sb26_189", "CO SB 26-189"],
    ],
  },
  human_oversight: {
    eventTypes: [
      "decision.human_review_triggered",
      "decision.human_review_completed",
      "decision.decision_reversed",
      "human_review",
    ],
    cadence: "each review that is triggered is completed",
    deadlines: [["pipa_37_2_kr", "refusal of an automated decision under PIPA: 30 days"]],
    clauses: [
      ["ai_basic_law_kr", "KR 34(1)4"],
      ["eu_ai_act_art_6", "EU 14, 26(2)"],
      ["pipa_37_2_kr", "PIPA Decree 44-3(1)2"],
      ["gdpr_art_22", "GDPR 22(3)"],
      ["colorado_sb26_189", "CO SB 26-189"],
    ],
  },
  objection_handling: {
    eventTypes: [
      "objection.received",
      "objection.acknowledged",
      "objection.resolved",
      "objection.escalated",
      "objection",
    ],
    cadence: "each objection is acknowledged and resolved",
    deadlines: [["pipa_37_2_kr", "30 days, twice extensible by 30"]],
    clauses: [
      ["pipa_37_2_kr", "PIPA 37-2"],
      ["credit_info_36_2_kr", "CIA 36-2(2)"],
      ["ai_basic_law_kr", "KR 34(1)3"],
    ],
  },
  impact_assessment: {
    eventTypes: ["assessment.impact_assessment_completed", "assessment.impact_assessment_updated"],
    cadence: "before the model is deployed, and after a substantial change",
    deadlines: [],
    clauses: [
      ["ai_basic_law_kr", "KR 35(1)"],
      ["eu_ai_act_art_6", "EU 27"],
    ],
  },
  bias_audit: {
    eventTypes: ["assessment.impact_assessment_completed"],
    cadence: 'at most one year before each use, with metadata.assessment_type "bias_audit"',
    deadlines: [["nyc_ll144", "1 year"]],
    clauses: [["nyc_ll144", "LL144"]],
  },
  risk_review: {
    eventTypes: ["assessment.risk_classification_changed"],
    cadence: "before the system is provided, and on change",
    deadlines: [],
    clauses: [
      ["ai_basic_law_kr", "KR 33(1)"],
      ["eu_ai_act_art_6", "EU 6(4), 9"],
    ],
  },
  lifecycle_registration: {
    eventTypes: [
      "asset.created",
      "asset.updated",
      "asset.archived",
      "model.model_deployed",
      "model.model_retired",
    ],
    cadence: "on change",
    deadlines: [],
    clauses: [["eu_ai_act_art_6", "EU 49"]],
  },
  performance_monitoring: {
    eventTypes: ["model.performance_degraded"],
    cadence: "continuous",
    deadlines: [],
    clauses: [["eu_ai_act_art_6", "EU 26(5), 72"]],
  },
  incident_reporting: {
    eventTypes: ["incident.detected", "incident.reported_to_authority", "incident.mitigated"],
    cadence: "for each serious incident",
    deadlines: [["eu_ai_act_art_6", "15 days; 10 after a death; 2 for critical infrastructure"]],
    clauses: [
      ["eu_ai_act_art_6", "EU 73, 26(5)"],
      ["ai_basic_law_kr", "KR 32(1)2"],
    ],
  },
  log_retention: {
    eventTypes: [],
    cadence: "kept with the asset",
    deadlines: [
      ["ai_basic_law_kr", "KR 5 years"],
      ["eu_ai_act_art_6", "EU at least 6 months"],
      ["colorado_sb26_189", "CO at least 3 years"],
    ],
    clauses: [
      ["ai_basic_law_kr", "KR Decree 27(2)"],
      ["eu_ai_act_art_6", "EU 19, 26(6)"],
      ["colorado_sb26_189", "CO SB 26-189"],
    ],
  },
  cease_use: {
    eventTypes: ["model.model_retired", "asset.archived"],
    cadence: "no decision or answer afterwards",
    deadlines: [["eu_ai_act_art_5", "immediately"]],
    clauses: [["eu_ai_act_art_5", "EU 5"]],
  },
} as const satisfies Readonly<Record<string, Obligation>>;
export type ObligationCode = keyof typeof OBLIGATIONS;
