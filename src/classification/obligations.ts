/** What has to be done, and the events that are evidence of it. */
import type { Jurisdiction } from "./vocabulary.ts";

/** What the law of one place says. */
export type Provision = readonly [jurisdiction: Jurisdiction, text: string];

export interface Obligation {
  /** Event types of this API, the current name first. */
  readonly eventTypes: readonly string[];
  readonly cadence: string;
  readonly deadlines: readonly Provision[];
  /** A law without one does not ask for it. */
  readonly clauses: readonly Provision[];
}

export const OBLIGATIONS = {
  pre_use_notice: {
    eventTypes: ["transparency.notice_shown", "disclosure_shown"],
    cadence: "for each person or session, before the first decision or answer",
    deadlines: [["us_nyc", "New York City: 10 business days before use"]],
    clauses: [
      ["kr", "KR 31(1), Decree 23(1)"],
      ["eu", "EU 26(11), 50(1), (3), (5)"],
      ["us_nyc", "LL144"],
      ["us_co", "CO SB 26-189"],
    ],
  },
  policy_disclosure: {
    eventTypes: ["transparency.policy_disclosed"],
    cadence: "once per version of the asset, until it is replaced",
    deadlines: [],
    clauses: [
      ["kr", "KR Decree 27(1)"],
      ["kr", "PIPA Decree 44-4"],
    ],
  },
  output_labeling: {
    eventTypes: ["transparency.result_labeled", "watermark_applied"],
    cadence: "for each output",
    deadlines: [],
    clauses: [
      ["kr", "KR 31(2), (3), Decree 23(2)"],
      ["eu", "EU 50(2), (4)"],
    ],
  },
  decision_logging: {
    eventTypes: ["decision.automated_decision_made", "ai_inference"],
    cadence: "for each decision, with hashes of context, outcome and subject",
    deadlines: [],
    clauses: [
      ["eu", "EU 12, 19, 26(6)"],
      ["kr", "KR 34(1)5"],
    ],
  },
  explanation: {
    eventTypes: ["decision.explanation_provided"],
    cadence: "on request",
    deadlines: [
      ["kr", "30 days"],
      ["us_co", "30 days"],
    ],
    clauses: [
      ["kr", "PIPA 37-2(2)"],
      ["kr", "CIA 36-2"],
      ["kr", "KR 3(2), 34(1)2"],
      ["eu", "EU 86"],
      ["us_co", "CO SB 26-189"],
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
    deadlines: [["kr", "refusal of an automated decision under PIPA: 30 days"]],
    clauses: [
      ["kr", "KR 34(1)4"],
      ["eu", "EU 14, 26(2)"],
      ["kr", "PIPA Decree 44-3(1)2"],
      ["eu", "GDPR 22(3)"],
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
    deadlines: [["kr", "30 days, twice extensible by 30"]],
    clauses: [
      ["kr", "PIPA 37-2"],
      ["kr", "CIA 36-2(2)"],
      ["kr", "KR 34(1)3"],
    ],
  },
  impact_assessment: {
    eventTypes: ["assessment.impact_assessment_completed", "assessment.impact_assessment_updated"],
    cadence: "before the model is deployed, and after a substantial change",
    deadlines: [],
    clauses: [
      ["kr", "KR 35(1)"],
      ["eu", "EU 27"],
    ],
  },
  bias_audit: {
    eventTypes: ["assessment.impact_assessment_completed"],
    cadence: 'at most one year before each use, with metadata.assessment_type "bias_audit"',
    deadlines: [["us_nyc", "1 year"]],
    clauses: [["us_nyc", "LL144"]],
  },
  risk_review: {
    eventTypes: ["assessment.risk_classification_changed"],
    cadence: "before the system is provided, and on change",
    deadlines: [],
    clauses: [
      ["kr", "KR 33(1)"],
      ["eu", "EU 6(4), 9"],
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
    clauses: [["eu", "EU 49"]],
  },
  performance_monitoring: {
    eventTypes: ["model.performance_degraded"],
    cadence: "continuous",
    deadlines: [],
    clauses: [["eu", "EU 26(5), 72"]],
  },
  incident_reporting: {
    eventTypes: ["incident.detected", "incident.reported_to_authority", "incident.mitigated"],
    cadence: "for each serious incident",
    deadlines: [["eu", "15 days; 10 after a death; 2 for critical infrastructure"]],
    clauses: [
      ["eu", "EU 73, 26(5)"],
      ["kr", "KR 32(1)2"],
    ],
  },
  log_retention: {
    eventTypes: [],
    cadence: "kept with the asset",
    deadlines: [
      ["kr", "KR 5 years"],
      ["eu", "EU at least 6 months"],
      ["us_co", "CO at least 3 years"],
    ],
    clauses: [
      ["kr", "KR Decree 27(2)"],
      ["eu", "EU 19, 26(6)"],
      ["us_co", "CO SB 26-189"],
    ],
  },
  cease_use: {
    eventTypes: ["model.model_retired", "asset.archived"],
    cadence: "no decision or answer afterwards",
    deadlines: [["eu", "immediately"]],
    clauses: [["eu", "EU 5"]],
  },
} as const satisfies Readonly<Record<string, Obligation>>;
export type ObligationCode = keyof typeof OBLIGATIONS;
