/**
 * The keys of `metadata` that the views read, as data: documents list them, and a key that is nearly one of them is answered with a warning. A test
 * checks that no view reads any other.
 */

export interface MetadataKey {
  readonly name: string;
  /** Other names of the same, which clients in the field send. The first name that has a value counts. */
  readonly also?: readonly string[];
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

export const METADATA_KEYS: readonly MetadataKey[] = [
  { name: "decision_id", also: ["original_decision_id"], says: "the decision that the event is about" },
  { name: "objection_id", says: "the objection that the event is about" },
  { name: "incident_id", says: "the incident that the event is about" },
  { name: "assessment_id", says: "the assessment that the event is about" },
  { name: "gen_ai.conversation.id", says: "the correlation_id, where the event has none" },
  { name: "legal_bases", says: "the legal bases, where the event has none of its own" },
  {
    name: "subject_hash",
    also: ["user_id_hash", "recipient_hash"],
    says: "the person concerned, where the event has no subject_hash of its own",
  },
  { name: "outcome_hash", also: ["output_hash"], says: "the output, where the event has no outcome_hash" },
  { name: "outcome", also: ["decision_outcome"], says: "what was decided" },
  { name: "final_outcome", says: "what a person decided in a review" },
  { name: "resolution", says: "how an objection was resolved" },
  { name: "reason", says: "why: of a decision, a denial, an extension, a change" },
  { name: "objection_type", says: "explanation_request, automated_decision_refusal or appeal" },
  { name: "extension_days", says: "by how many days a limit was extended, with the reason beside it" },
  { name: "triggered_by", says: "what started a human review or a reversal" },
  { name: "reviewer_id", also: ["reviewer"], says: "who reviewed" },
  { name: "incident_class", also: ["class"], says: "the class of an incident, which decides its limit" },
  { name: "aware_at", says: "since when an incident is known" },
  { name: "report_type", says: "whether a report of an incident is initial or complete" },
  { name: "notified", says: "who was informed of an incident" },
  { name: "severity", says: "how grave an incident is" },
  { name: "authority", says: "to which authority an incident was reported" },
  { name: "root_cause", also: ["root_cause_ref"], says: "the cause of an incident" },
  { name: "affected_count", says: "how many persons an incident affected" },
  { name: "channel", also: ["notice_channel", "delivery_method"], says: "where a notice was shown" },
  { name: "locale", says: "the language of a notice" },
  { name: "policy_version", says: "the version of the policy that a notice tells of" },
  { name: "name", also: ["asset_name"], says: "the name of an asset; in model.* that of the model" },
  { name: "owner", says: "who is responsible for an asset" },
  { name: "role", says: "the operator's role for an asset; deployer in incident.detected" },
  { name: "ai_type", says: "the kind of AI of an asset" },
  { name: "domain", says: "what an asset is used for" },
  { name: "decision_autonomy", says: "how much an asset decides by itself" },
  { name: "user_impact", says: "how much an asset matters to a person" },
  { name: "processes_personal_data", says: "whether an asset processes personal data: true or false" },
  { name: "oversight_person", says: "the person who oversees an asset" },
  { name: "oversight_contact", says: "how to reach that person" },
  { name: "retention", says: "how long records of an asset are kept" },
  { name: "clauses", also: ["cited_clauses", "clause"], says: "articles of law that the event names" },
  {
    name: "model",
    also: ["model_name", "gen_ai.response.model", "gen_ai.request.model"],
    says: "the model that an event is about",
  },
  { name: "model_version", says: "its version" },
  { name: "asset_version", also: ["version"], says: "the version, where the event has no asset_version" },
  { name: "from", also: ["from_tier", "old_tier", "previous_tier"], says: "the tier before a change" },
  { name: "to", also: ["to_tier", "new_tier", "risk_tier"], says: "the tier after a change" },
  { name: "ruleset_version", says: "the rules by which a tier was changed" },
  { name: "actor", also: ["changed_by"], says: "who changed a tier" },
  { name: "input", also: ["normalized_input", "inputs"], says: "what was classified" },
  {
    name: "assessment_type",
    also: ["type"],
    says: "the kind of an assessment; bias_audit is that of New York's Local Law 144",
  },
  { name: "assessment_version", says: "the version of an assessment" },
  { name: "valid_until", says: "the last day of an assessment" },
  { name: "checklist", also: ["items", "content_items"], says: "the content items of an assessment" },
  { name: "source_id", says: "the sender, for its own count" },
  { name: "source_sequence", says: "the sender's own count from 1" },
  { name: "last_source_sequence", says: "of a heartbeat: how far its sender has counted" },
];

/** Every key that is somebody's name for something, so none of them is a misspelling of another. */
export const METADATA_NAMES: ReadonlySet<string> = new Set([
  ...METADATA_KEYS.flatMap(({ name, also = [] }) => [name, ...also]),
  ...DESCRIPTIVE,
]);
