/** The event types of SPEC 6, in their groups, each with the sentence that the documentation prints. A new type is one row here. */

export const EVENT_TYPES_BY_GROUP = {
  legacy: {
    ai_inference: "An AI system produced an output.",
    objection: "A person objected to a decision. Read as `objection.received`.",
    human_review: "A person reviewed a decision. Read as `decision.human_review_completed`.",
    disclosure_shown: "A person was shown that AI is in use. Read as `transparency.notice_shown`.",
    disclosure_acknowledged: "A person confirmed that they saw the disclosure.",
    watermark_applied: "A generated output was marked. Read as `transparency.result_labeled`.",
  },
  transparency: {
    "transparency.notice_shown": "A person was shown a notice that AI is in use.",
    "transparency.notice_dismissed": "A person closed the notice.",
    "transparency.result_labeled": "A generated output was labeled as made by AI.",
    "transparency.policy_disclosed": "A policy about the use of AI was published or shown.",
  },
  decision: {
    "decision.automated_decision_made": "The system made a decision about a person or a thing.",
    "decision.explanation_provided": "A person received an explanation of a decision.",
    "decision.human_review_triggered": "A decision was handed to a person for review.",
    "decision.human_review_completed": "The person finished the review.",
    "decision.decision_reversed": "A decision was reversed.",
  },
  objection: {
    "objection.received": "A person objected, asked for an explanation or appealed.",
    "objection.acknowledged": "The person was told that the objection arrived.",
    "objection.resolved": "The objection was answered.",
    "objection.escalated": "The objection was passed on to a higher level.",
  },
  assessment: {
    "assessment.impact_assessment_started": "An impact assessment or audit began.",
    "assessment.impact_assessment_completed": "An impact assessment or audit was completed.",
    "assessment.impact_assessment_updated": "An impact assessment or audit was changed.",
    "assessment.risk_classification_changed": "The risk tier of a system changed.",
  },
  model_and_asset: {
    "model.model_deployed": "A version of a model went into use.",
    "model.model_retired": "A version of a model went out of use.",
    "model.performance_degraded": "A model got measurably worse.",
    "asset.created": "An AI system was registered.",
    "asset.updated": "What is known about an AI system changed.",
    "asset.archived": "An AI system went out of use.",
  },
  incident: {
    "incident.detected": "A serious incident became known.",
    "incident.reported_to_authority": "The incident was reported to an authority.",
    "incident.mitigated": "The incident was brought under control.",
  },
} as const;

export const EVENT_TYPES: readonly string[] = Object.values(EVENT_TYPES_BY_GROUP).flatMap((group) =>
  Object.keys(group),
);

/**
 * What EXTRA_EVENT_TYPES may add: one word, or two joined by a dot, so that a subject keeps its five tokens. The group `system` is reserved for us,
 * and `legacy` for single words: `legacy.objection` would have the subject of `objection`.
 */
export const EXTRA_EVENT_TYPE = /^(?!(?:system|legacy)\.)[a-z][a-z0-9_]{0,63}(\.[a-z][a-z0-9_]{0,63})?$/;
