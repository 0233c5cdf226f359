/**
 * The keys of `metadata` that the views read, as data: documents list them, and a key that is nearly one of them is answered with a warning. A test
 * checks that no view reads any other.
 */

export interface MetadataKey {
  readonly name: string;
  /** Other names of the same, which clients in the field send. The first name that has a value counts. */
  readonly also: readonly string[];
  /** The types of events that it is read in, as Markdown. Undefined: all. */
  readonly readIn: string | undefined;
  /** Sentences for the documents, as Markdown. */
  readonly says: string;
}

/** `names`: that of the key, and others of the same which clients send, each with its sentence. */
const readIn = (
  types: string | undefined,
  sentences: Readonly<Record<string, string>>,
): readonly MetadataKey[] =>
  Object.entries(sentences).map(([names, says]) => {
    const [name = "", ...also] = names.split(" ");
    return { name, also, readIn: types, says };
  });
const inAll = (sentences: Readonly<Record<string, string>>) => readIn(undefined, sentences);

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
    ...inAll({
      "decision_id original_decision_id":
        "The decision that the event is about. A decision without one is named by its `event_id`.",
      reason:
        "Why. In `objection.resolved` with the resolution `denied` it is the reason that PIPA requires; with `extension_days` it is the reason of the extension.",
      "model model_name gen_ai.response.model gen_ai.request.model": "The model that the event is about.",
      "gen_ai.conversation.id": "The `correlation_id`, if the event has none (OpenTelemetry's name).",
    }),
    ...readIn("`decision.automated_decision_made`, `decision.human_review_completed`", {
      "outcome decision_outcome":
        "What was decided, for example `approved` or `denied`. `denied`, `rejected`, `declined` and `adverse` start `CO-ADVERSE` under Colorado's act. In a review `upheld`, `confirmed`, `affirmed` and `unchanged` leave the decision as it was.",
    }),
    ...readIn("`decision.human_review_completed`", {
      final_outcome: "What the person decided.",
    }),
    ...readIn("`decision.human_review_*`", {
      "reviewer_id reviewer": "The person who reviewed.",
    }),
    ...readIn("`decision.human_review_triggered`", {
      triggered_by: "What led to the review, for example `user_refusal`.",
    }),
    ...readIn("`model.*`", {
      model_version: "The version of the model; otherwise `asset_version` counts.",
    }),
  ],
  Notices: [
    ...readIn("`transparency.notice_shown`", {
      "channel notice_channel delivery_method": "Where the notice was shown.",
      locale: "In which language.",
      policy_version: "Which version of the policy it refers to.",
    }),
  ],
  Objections: [
    ...inAll({
      objection_id:
        "The objection that the event belongs to. An objection without one is named by the `event_id` of `objection.received`.",
    }),
    ...readIn("`objection.received`", {
      objection_type:
        "`explanation_request`, `automated_decision_refusal` or `appeal`. It decides which obligation starts.",
    }),
    ...readIn("`objection.resolved`", {
      resolution:
        "`upheld`, `partial`, `denied` or `withdrawn`. `denied` without `reason` starts `PIPA-DENY`; `withdrawn` ends what was still due.",
    }),
    ...readIn("`objection.*`", {
      extension_days:
        "The limit was extended by so many days, and the person was told. Needs `reason`. Has no effect in `objection.received`.",
    }),
  ],
  Incidents: [
    ...inAll({
      incident_id:
        "The incident that the event belongs to. An incident without one is named by the `event_id` of `incident.detected`.",
    }),
    ...readIn("`incident.*`", {
      "incident_class class":
        "`death`, `critical_infrastructure` and `widespread_infringement` have shorter limits than any other class.",
      aware_at: "Since when the incident is known (RFC 3339). The limit counts from then.",
      notified: "`provider`: the provider was informed.",
      severity: "How grave the incident is.",
      authority: "The authority that got the report.",
      "root_cause root_cause_ref": "The cause.",
      affected_count: "How many people are affected.",
    }),
    ...readIn("`incident.reported_to_authority`", {
      report_type: "`initial` if a complete report follows; anything else counts as complete.",
    }),
  ],
  "Assessments and risk changes": [
    ...readIn("`assessment.*`", {
      assessment_id: "The assessment that the event belongs to; without one it is that of the asset.",
    }),
    ...readIn("`assessment.impact_assessment_*`", {
      "assessment_type type":
        "`bias_audit`: the audit that New York's Local Law 144 asks for, valid for a year.",
      assessment_version: "The version of the assessment.",
      valid_until: "A date or time at which a bias audit ends earlier than after a year.",
      "checklist items content_items":
        'The content by name, for example `{"scope": true, "measures": "drafted"}`, or an array.',
    }),
    ...readIn("`assessment.risk_classification_changed`", {
      "from from_tier old_tier previous_tier": "The tier before.",
      "to to_tier new_tier risk_tier":
        "The tier from then on, which is the tier of the asset whatever the `risk_tier` of other events says.",
      ruleset_version: "By which rules it was classified.",
      "actor changed_by": "Who changed the tier.",
      "input normalized_input inputs": "What was classified.",
    }),
    ...readIn("`assessment.*`, `asset.*`", {
      "clauses cited_clauses clause":
        "Articles of law: a text, an array of texts, or an array of objects with `ref`.",
    }),
  ],
  "AI systems": [
    ...readIn("`asset.*`, `model.*`", {
      "name asset_name": "The name of the system; in `model.*` that of the model.",
      owner: "Who is responsible.",
      ai_type: "The kind of AI, as in a classification.",
      domain: "What the system is used for.",
      decision_autonomy: "How much it decides on its own.",
      user_impact: "How much it matters to a person.",
      processes_personal_data: "`true` or `false`.",
      oversight_person: "Who oversees the system.",
      oversight_contact: "How to reach that person.",
      retention: "A text about retention, shown as it is.",
      "asset_version version": "The version, if the event has no `asset_version` of its own.",
    }),
    ...readIn("`asset.*`, `model.*`, `incident.detected`", {
      role: "The role of the operator. `deployer` in `incident.detected` says that the sender only uses the system, and has to inform its provider (`EU26-5`).",
    }),
  ],
  "Sender and person": [
    ...inAll({
      legal_bases: "Read if the event has no `legal_bases` of its own.",
      "subject_hash user_id_hash recipient_hash":
        "The person, if the event has no `subject_hash` of its own.",
      "outcome_hash output_hash":
        "The output, if the event has no `outcome_hash` of its own. An output counts as labeled if `transparency.result_labeled` names the same hash.",
      source_id: "The sender that counts its events.",
      source_sequence:
        "Its own count, from 1. A missing number shows at `/v1/sources/gaps`. The SDK sends both.",
    }),
    ...readIn("`sdk.heartbeat`", {
      last_source_sequence:
        "The highest number that the sender has used, so that missing last numbers show too.",
    }),
  ],
};

export const METADATA_KEYS: readonly MetadataKey[] = Object.values(METADATA_KEYS_BY_SUBJECT).flat();

/** Every known key, so none of them is a misspelling of another. */
export const METADATA_NAMES: ReadonlySet<string> = new Set([
  ...METADATA_KEYS.flatMap(({ name, also }) => [name, ...also]),
  ...DESCRIPTIVE,
]);
