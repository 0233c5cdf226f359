/** What has to be done, and the events that are evidence of it. */

export interface Obligation {
  /** Event types of this API, the current name first. */
  readonly eventTypes: readonly string[];
  readonly cadence: string;
  readonly deadline: string | null;
  readonly clause: string;
}

export const OBLIGATIONS = {
  pre_use_notice: {
    eventTypes: ["transparency.notice_shown", "disclosure_shown"],
    cadence: "for each person or session, before the first decision or answer",
    deadline: "New York City: 10 business days before use",
    clause: "KR 31(1), Decree 23(1); EU 26(11), 50(1), (3), (5); LL144; CO SB 26-189",
  },
  policy_disclosure: {
    eventTypes: ["transparency.policy_disclosed"],
    cadence: "once per version of the asset, until it is replaced",
    deadline: null,
    clause: "KR Decree 27(1); PIPA Decree 44-4",
  },
  output_labeling: {
    eventTypes: ["transparency.result_labeled", "watermark_applied"],
    cadence: "for each output",
    deadline: null,
    clause: "KR 31(2), (3), Decree 23(2); EU 50(2), (4)",
  },
  decision_logging: {
    eventTypes: ["decision.automated_decision_made", "ai_inference"],
    cadence: "for each decision, with hashes of context, outcome and subject",
    deadline: null,
    clause: "EU 12, 19, 26(6); KR 34(1)5",
  },
  explanation: {
    eventTypes: ["decision.explanation_provided"],
    cadence: "on request",
    deadline: "30 days",
    clause: "PIPA 37-2(2); CIA 36-2; KR 3(2), 34(1)2; EU 86; CO SB 26-189",
  },
  human_oversight: {
    eventTypes: [
      "decision.human_review_triggered",
      "decision.human_review_completed",
      "decision.decision_reversed",
      "human_review",
    ],
    cadence: "each review that is triggered is completed",
    deadline: "refusal of an automated decision under PIPA: 30 days",
    clause: "KR 34(1)4; EU 14, 26(2); PIPA Decree 44-3(1)2; GDPR 22(3)",
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
    deadline: "30 days, twice extensible by 30",
    clause: "PIPA 37-2; CIA 36-2(2); KR 34(1)3",
  },
  impact_assessment: {
    eventTypes: ["assessment.impact_assessment_completed", "assessment.impact_assessment_updated"],
    cadence: "before the model is deployed, and after a substantial change",
    deadline: null,
    clause: "KR 35(1); EU 27",
  },
  bias_audit: {
    eventTypes: ["assessment.impact_assessment_completed"],
    cadence: 'at most one year before each use, with metadata.assessment_type "bias_audit"',
    deadline: "1 year",
    clause: "LL144",
  },
  risk_review: {
    eventTypes: ["assessment.risk_classification_changed"],
    cadence: "before the system is provided, and on change",
    deadline: null,
    clause: "KR 33(1); EU 6(4), 9",
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
    deadline: null,
    clause: "EU 49",
  },
  performance_monitoring: {
    eventTypes: ["model.performance_degraded"],
    cadence: "continuous",
    deadline: null,
    clause: "EU 26(5), 72",
  },
  incident_reporting: {
    eventTypes: ["incident.detected", "incident.reported_to_authority", "incident.mitigated"],
    cadence: "for each serious incident",
    deadline: "15 days; 10 after a death; 2 for critical infrastructure",
    clause: "EU 73, 26(5); KR 32(1)2",
  },
  log_retention: {
    eventTypes: [],
    cadence: "kept with the asset",
    deadline: "KR 5 years; EU at least 6 months; CO at least 3 years",
    clause: "KR Decree 27(2); EU 19, 26(6); CO SB 26-189",
  },
  cease_use: {
    eventTypes: ["model.model_retired", "asset.archived"],
    cadence: "no decision or answer afterwards",
    deadline: "immediately",
    clause: "EU 5",
  },
} as const satisfies Readonly<Record<string, Obligation>>;
export type ObligationCode = keyof typeof OBLIGATIONS;
