/** The event types of SPEC 6, in their groups. A new type is one row here. */

export const EVENT_TYPES_BY_GROUP = {
  legacy: [
    "ai_inference",
    "objection",
    "human_review",
    "disclosure_shown",
    "disclosure_acknowledged",
    "watermark_applied",
  ],
  transparency: [
    "transparency.notice_shown",
    "transparency.notice_dismissed",
    "transparency.result_labeled",
    "transparency.policy_disclosed",
  ],
  decision: [
    "decision.automated_decision_made",
    "decision.explanation_provided",
    "decision.human_review_triggered",
    "decision.human_review_completed",
    "decision.decision_reversed",
  ],
  objection: ["objection.received", "objection.acknowledged", "objection.resolved", "objection.escalated"],
  assessment: [
    "assessment.impact_assessment_started",
    "assessment.impact_assessment_completed",
    "assessment.impact_assessment_updated",
    "assessment.risk_classification_changed",
  ],
  model_and_asset: [
    "model.model_deployed",
    "model.model_retired",
    "model.performance_degraded",
    "asset.created",
    "asset.updated",
    "asset.archived",
  ],
  incident: ["incident.detected", "incident.reported_to_authority", "incident.mitigated"],
} as const;

export const EVENT_TYPES: readonly string[] = Object.values(EVENT_TYPES_BY_GROUP).flat();

/**
 * What EXTRA_EVENT_TYPES may add: one word, or two joined by a dot, so that a subject keeps its five tokens. The group `system` is reserved for us,
 * and `legacy` for single words: `legacy.objection` would have the subject of `objection`.
 */
export const EXTRA_EVENT_TYPE = /^(?!(?:system|legacy)\.)[a-z][a-z0-9_]{0,63}(\.[a-z][a-z0-9_]{0,63})?$/;
