/** What the views read in `metadata`, in words. test/documents.test.ts checks that no key which the code reads is missing. */
interface MetadataKey {
  /** The first is the name to send; the views also understand the others. */
  readonly names: readonly string[];
  /** Event types that it is read in. */
  readonly events: string;
  readonly says: string;
}

const decision: readonly MetadataKey[] = [
  {
    names: ["decision_id", "original_decision_id"],
    events: "all",
    says: "The decision that the event is about. A decision without one is named by its `event_id`.",
  },
  {
    names: ["outcome", "decision_outcome"],
    events: "`decision.automated_decision_made`, `decision.human_review_completed`",
    says: "What was decided, for example `approved` or `denied`. In a review `upheld`, `confirmed`, `affirmed` and `unchanged` leave the decision as it was. `denied`, `rejected`, `declined` and `adverse` start `CO-ADVERSE` under Colorado's act.",
  },
  {
    names: ["final_outcome"],
    events: "`decision.human_review_completed`",
    says: "What the person decided.",
  },
  {
    names: ["reason"],
    events: "`decision.*`, `objection.*`",
    says: "Why. In `objection.resolved` with the resolution `denied` it is the reason that PIPA requires; with `extension_days` it is the reason of the extension.",
  },
  {
    names: ["reviewer_id", "reviewer"],
    events: "`decision.human_review_*`",
    says: "The person who reviewed.",
  },
  {
    names: ["triggered_by"],
    events: "`decision.human_review_triggered`",
    says: "What led to the review, for example `user_refusal`.",
  },
  {
    names: ["model", "model_name", "gen_ai.response.model", "gen_ai.request.model"],
    events: "all",
    says: "The model. In `model.*` the key `name` is read too.",
  },
  {
    names: ["model_version", "version"],
    events: "`model.*`",
    says: "The version of the model; otherwise `asset_version` counts.",
  },
  {
    names: ["gen_ai.conversation.id"],
    events: "all",
    says: "The `correlation_id`, if the event has none (OpenTelemetry's name).",
  },
];

const notice: readonly MetadataKey[] = [
  {
    names: ["channel", "notice_channel", "delivery_method"],
    events: "`transparency.notice_shown`",
    says: "Where the notice was shown.",
  },
  { names: ["locale"], events: "`transparency.notice_shown`", says: "In which language." },
  {
    names: ["policy_version"],
    events: "`transparency.notice_shown`",
    says: "Which version of the policy it referred to.",
  },
];

const objection: readonly MetadataKey[] = [
  {
    names: ["objection_id"],
    events: "all",
    says: "The objection that the event belongs to. An objection without one is named by the `event_id` of `objection.received`.",
  },
  {
    names: ["objection_type"],
    events: "`objection.received`",
    says: "`explanation_request`, `automated_decision_refusal` or `appeal`. It decides which obligation starts.",
  },
  {
    names: ["resolution"],
    events: "`objection.resolved`",
    says: "`upheld`, `partial`, `denied` or `withdrawn`. `denied` without `reason` starts `PIPA-DENY`; `withdrawn` ends what was still due.",
  },
  {
    names: ["extension_days"],
    events: "`objection.*` after `objection.received`",
    says: "The limit was extended by so many days, and the person was told. Needs `reason`.",
  },
];

const incident: readonly MetadataKey[] = [
  {
    names: ["incident_id"],
    events: "all",
    says: "The incident that the event belongs to. An incident without one is named by the `event_id` of `incident.detected`.",
  },
  {
    names: ["incident_class", "class"],
    events: "`incident.*`",
    says: "`death`, `critical_infrastructure` and `widespread_infringement` have shorter limits than any other class.",
  },
  {
    names: ["aware_at"],
    events: "`incident.*`",
    says: "Since when the incident is known (RFC 3339). The limit counts from then.",
  },
  {
    names: ["report_type"],
    events: "`incident.reported_to_authority`",
    says: "`initial` if a complete report follows; anything else counts as complete.",
  },
  {
    names: ["role"],
    events: "`incident.detected`",
    says: "`deployer`: the sender only uses the system, and has to inform its provider (`EU26-5`).",
  },
  { names: ["notified"], events: "`incident.*`", says: "`provider`: the provider was informed." },
  { names: ["severity"], events: "`incident.*`", says: "A column of the register of incidents." },
  { names: ["authority"], events: "`incident.*`", says: "The authority that got the report." },
  {
    names: ["root_cause", "root_cause_ref"],
    events: "`incident.*`",
    says: "A column of the register of incidents.",
  },
  { names: ["affected_count"], events: "`incident.*`", says: "How many people are affected." },
];

const assessment: readonly MetadataKey[] = [
  {
    names: ["assessment_id"],
    events: "`assessment.*`",
    says: "The assessment that the event belongs to; without one it is that of the asset.",
  },
  {
    names: ["assessment_type", "type"],
    events: "`assessment.impact_assessment_*`",
    says: "`bias_audit`: the audit that New York's Local Law 144 asks for, valid for a year.",
  },
  {
    names: ["valid_until"],
    events: "`assessment.impact_assessment_*`",
    says: "A date or a time at which the audit ends earlier than after a year.",
  },
  {
    names: ["assessment_version"],
    events: "`assessment.impact_assessment_*`",
    says: "Version of the assessment.",
  },
  {
    names: ["checklist", "items", "content_items"],
    events: "`assessment.impact_assessment_*`",
    says: 'The content of the assessment by name, for example `{"scope": true, "measures": "drafted"}`, or an array.',
  },
  {
    names: ["from", "from_tier", "old_tier", "previous_tier"],
    events: "`assessment.risk_classification_changed`",
    says: "The tier before.",
  },
  {
    names: ["to", "to_tier", "new_tier"],
    events: "`assessment.risk_classification_changed`",
    says: "The tier from then on, which is the tier of the asset whatever the `risk_tier` of other events says.",
  },
  {
    names: ["ruleset_version"],
    events: "`assessment.risk_classification_changed`",
    says: "By which rules it was classified. `actor` says by whom, `input` what was classified.",
  },
  {
    names: ["clauses", "cited_clauses", "clause"],
    events: "`assessment.*`, `asset.*`",
    says: "The articles of law, as text, array of texts, or array of objects with `ref`.",
  },
];

const asset: readonly MetadataKey[] = [
  { names: ["name", "asset_name"], events: "`asset.*`", says: "Name of the system." },
  { names: ["owner"], events: "`asset.*`, `model.*`", says: "Who is responsible." },
  {
    names: ["ai_type", "domain", "decision_autonomy", "user_impact", "processes_personal_data"],
    events: "`asset.*`, `model.*`",
    says: "What the classification asks for; columns of the register of assets.",
  },
  {
    names: ["oversight_person", "oversight_contact"],
    events: "`asset.*`, `model.*`",
    says: "Who oversees the system, and how to reach that person.",
  },
  { names: ["retention"], events: "`asset.*`, `model.*`", says: "A text about retention, shown as it is." },
];

const sender: readonly MetadataKey[] = [
  {
    names: ["legal_bases"],
    events: "all",
    says: "Read if the event has no `legal_bases` of its own.",
  },
  {
    names: ["subject_hash", "user_id_hash", "recipient_hash"],
    events: "all",
    says: "Read if the event has no `subject_hash` of its own.",
  },
  {
    names: ["outcome_hash", "output_hash"],
    events: "all",
    says: "Read if the event has no `outcome_hash` of its own. An output counts as labeled if `transparency.result_labeled` names the same hash.",
  },
  {
    names: ["source_id", "source_sequence"],
    events: "all",
    says: "The sender, and its own count from 1. A missing number shows at `/v1/sources/gaps`. The SDK sends both.",
  },
  {
    names: ["last_source_sequence"],
    events: "`sdk.heartbeat`",
    says: "The highest number that the sender has used, so that missing last numbers show too.",
  },
];

export const METADATA_KEYS: Readonly<Record<string, readonly MetadataKey[]>> = {
  "Decisions, explanations, reviews": decision,
  Notices: notice,
  Objections: objection,
  Incidents: incident,
  "Assessments and risk changes": assessment,
  "AI systems": asset,
  "Sender and person": sender,
};
