/**
 * The keys of `metadata` that the views read, as data: documents list them, and a key that is nearly one of them is answered with a warning. A test
 * checks that no view reads any other.
 */

export interface MetadataKey {
  readonly name: string;
  /** Other names of the same, which clients in the field send. The first name that has a value counts. */
  readonly also?: readonly string[];
  /** The types of events that it is read in, as Markdown. Absent: all. */
  readonly readIn?: string;
  /** Sentences for the documents, as Markdown. */
  readonly says: string;
}

/** Keys that SPEC 2.1 and OpenTelemetry name and that decide nothing here. */
const DESCRIPTIVE: readonly string[] = [
  "duration_ms",
  "tokens_in",
  "tokens_out",
  "request_model",
  "conversation_id",
];

/** By subject. */
export const METADATA_KEYS_BY_SUBJECT: Readonly<Record<string, readonly MetadataKey[]>> = {
  "Decisions, explanations, reviews": [
    {
      name: "decision_id",
      also: ["original_decision_id"],
      says: "The decision that the event is about. A decision without one is named by its `event_id`.",
    },
    {
      name: "outcome",
      also: ["decision_outcome"],
      readIn: "`decision.automated_decision_made`, `decision.human_review_completed`",
      says: "What was decided, for example `approved` or `denied`. `denied`, `rejected`, `declined` and `adverse` start `CO-ADVERSE` under Colorado's act. In a review `upheld`, `confirmed`, `affirmed` and `unchanged` leave the decision as it was.",
    },
    { name: "final_outcome", readIn: "`decision.human_review_completed`", says: "What the person decided." },
    {
      name: "reason",
      says: "Why. In `objection.resolved` with the resolution `denied` it is the reason that PIPA requires; with `extension_days` it is the reason of the extension.",
    },
    {
      name: "reviewer_id",
      also: ["reviewer"],
      readIn: "`decision.human_review_*`",
      says: "The person who reviewed.",
    },
    {
      name: "triggered_by",
      readIn: "`decision.human_review_triggered`",
      says: "What led to the review, for example `user_refusal`.",
    },
    {
      name: "model",
      also: ["model_name", "gen_ai.response.model", "gen_ai.request.model"],
      says: "The model that the event is about.",
    },
    {
      name: "model_version",
      readIn: "`model.*`",
      says: "The version of the model; otherwise `asset_version` counts.",
    },
    {
      name: "gen_ai.conversation.id",
      says: "The `correlation_id`, if the event has none (OpenTelemetry's name).",
    },
  ],
  Notices: [
    {
      name: "channel",
      also: ["notice_channel", "delivery_method"],
      readIn: "`transparency.notice_shown`",
      says: "Where the notice was shown.",
    },
    { name: "locale", readIn: "`transparency.notice_shown`", says: "In which language." },
    {
      name: "policy_version",
      readIn: "`transparency.notice_shown`",
      says: "Which version of the policy it refers to.",
    },
  ],
  Objections: [
    {
      name: "objection_id",
      says: "The objection that the event belongs to. An objection without one is named by the `event_id` of `objection.received`.",
    },
    {
      name: "objection_type",
      readIn: "`objection.received`",
      says: "`explanation_request`, `automated_decision_refusal` or `appeal`. It decides which obligation starts.",
    },
    {
      name: "resolution",
      readIn: "`objection.resolved`",
      says: "`upheld`, `partial`, `denied` or `withdrawn`. `denied` without `reason` starts `PIPA-DENY`; `withdrawn` ends what was still due.",
    },
    {
      name: "extension_days",
      readIn: "`objection.*`",
      says: "The limit was extended by so many days, and the person was told. Needs `reason`. Has no effect in `objection.received`.",
    },
  ],
  Incidents: [
    {
      name: "incident_id",
      says: "The incident that the event belongs to. An incident without one is named by the `event_id` of `incident.detected`.",
    },
    {
      name: "incident_class",
      also: ["class"],
      readIn: "`incident.*`",
      says: "`death`, `critical_infrastructure` and `widespread_infringement` have shorter limits than any other class.",
    },
    {
      name: "aware_at",
      readIn: "`incident.*`",
      says: "Since when the incident is known (RFC 3339). The limit counts from then.",
    },
    {
      name: "report_type",
      readIn: "`incident.reported_to_authority`",
      says: "`initial` if a complete report follows; anything else counts as complete.",
    },
    { name: "notified", readIn: "`incident.*`", says: "`provider`: the provider was informed." },
    { name: "severity", readIn: "`incident.*`", says: "How grave the incident is." },
    { name: "authority", readIn: "`incident.*`", says: "The authority that got the report." },
    { name: "root_cause", also: ["root_cause_ref"], readIn: "`incident.*`", says: "The cause." },
    { name: "affected_count", readIn: "`incident.*`", says: "How many people are affected." },
  ],
  "Assessments and risk changes": [
    {
      name: "assessment_id",
      readIn: "`assessment.*`",
      says: "The assessment that the event belongs to; without one it is that of the asset.",
    },
    {
      name: "assessment_type",
      also: ["type"],
      readIn: "`assessment.impact_assessment_*`",
      says: "`bias_audit`: the audit that New York's Local Law 144 asks for, valid for a year.",
    },
    {
      name: "assessment_version",
      readIn: "`assessment.impact_assessment_*`",
      says: "The version of the assessment.",
    },
    {
      name: "valid_until",
      readIn: "`assessment.impact_assessment_*`",
      says: "A date or time at which a bias audit ends earlier than after a year.",
    },
    {
      name: "checklist",
      also: ["items", "content_items"],
      readIn: "`assessment.impact_assessment_*`",
      says: 'The content by name, for example `{"scope": true, "measures": "drafted"}`, or an array.',
    },
    {
      name: "from",
      also: ["from_tier", "old_tier", "previous_tier"],
      readIn: "`assessment.risk_classification_changed`",
      says: "The tier before.",
    },
    {
      name: "to",
      also: ["to_tier", "new_tier", "risk_tier"],
      readIn: "`assessment.risk_classification_changed`",
      says: "The tier from then on, which is the tier of the asset whatever the `risk_tier` of other events says.",
    },
    {
      name: "ruleset_version",
      readIn: "`assessment.risk_classification_changed`",
      says: "By which rules it was classified.",
    },
    {
      name: "actor",
      also: ["changed_by"],
      readIn: "`assessment.risk_classification_changed`",
      says: "Who changed the tier.",
    },
    {
      name: "input",
      also: ["normalized_input", "inputs"],
      readIn: "`assessment.risk_classification_changed`",
      says: "What was classified.",
    },
    {
      name: "clauses",
      also: ["cited_clauses", "clause"],
      readIn: "`assessment.*`, `asset.*`",
      says: "Articles of law: a text, an array of texts, or an array of objects with `ref`.",
    },
  ],
  "AI systems": [
    {
      name: "name",
      also: ["asset_name"],
      readIn: "`asset.*`, `model.*`",
      says: "The name of the system; in `model.*` that of the model.",
    },
    { name: "owner", readIn: "`asset.*`, `model.*`", says: "Who is responsible." },
    {
      name: "role",
      readIn: "`asset.*`, `model.*`, `incident.detected`",
      says: "The role of the operator. `deployer` in `incident.detected` says that the sender only uses the system, and has to inform its provider (`EU26-5`).",
    },
    { name: "ai_type", readIn: "`asset.*`, `model.*`", says: "The kind of AI, as in a classification." },
    { name: "domain", readIn: "`asset.*`, `model.*`", says: "What the system is used for." },
    { name: "decision_autonomy", readIn: "`asset.*`, `model.*`", says: "How much it decides by itself." },
    { name: "user_impact", readIn: "`asset.*`, `model.*`", says: "How much it matters to a person." },
    { name: "processes_personal_data", readIn: "`asset.*`, `model.*`", says: "`true` or `false`." },
    { name: "oversight_person", readIn: "`asset.*`, `model.*`", says: "Who oversees the system." },
    { name: "oversight_contact", readIn: "`asset.*`, `model.*`", says: "How to reach that person." },
    { name: "retention", readIn: "`asset.*`, `model.*`", says: "A text about retention, shown as it is." },
    {
      name: "asset_version",
      also: ["version"],
      readIn: "`asset.*`, `model.*`",
      says: "The version, if the event has no `asset_version` of its own.",
    },
  ],
  "Sender and person": [
    { name: "legal_bases", says: "Read if the event has no `legal_bases` of its own." },
    {
      name: "subject_hash",
      also: ["user_id_hash", "recipient_hash"],
      says: "The person, if the event has no `subject_hash` of its own.",
    },
    {
      name: "outcome_hash",
      also: ["output_hash"],
      says: "The output, if the event has no `outcome_hash` of its own. An output counts as labeled if `transparency.result_labeled` names the same hash.",
    },
    { name: "source_id", says: "The sender that counts its events." },
    {
      name: "source_sequence",
      says: "Its own count, from 1. A missing number shows at `/v1/sources/gaps`. The SDK sends both.",
    },
    {
      name: "last_source_sequence",
      readIn: "`sdk.heartbeat`",
      says: "The highest number that the sender has used, so that missing last numbers show too.",
    },
  ],
};

export const METADATA_KEYS: readonly MetadataKey[] = Object.values(METADATA_KEYS_BY_SUBJECT).flat();

/** Every key that is somebody's name for something, so none of them is a misspelling of another. */
export const METADATA_NAMES: ReadonlySet<string> = new Set([
  ...METADATA_KEYS.flatMap(({ name, also = [] }) => [name, ...also]),
  ...DESCRIPTIVE,
]);
