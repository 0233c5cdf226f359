/** One row of each register for the API documentation. Together they tell one story: a person objects to a decision about a credit. */

const ASSET = { asset_id: "credit_model" };
const SUBJECT = { subject_hash: `sha256:${"2c".repeat(32)}` };
const CASE = { correlation_id: "case-17" };

export const DECISION_EXAMPLE = {
  decision_id: "dec_42",
  ...ASSET,
  asset_version: "7.1",
  ...CASE,
  ...SUBJECT,
  risk_tier: "high",
  made_at: "2026-11-20T10:00:00Z",
  made_again: 0,
  outcome: "denied",
  notice_at: "2026-11-20T09:59:30Z",
  explanation_at: "2026-11-24T08:30:00Z",
  review_triggered_at: "2026-11-25T09:00:00Z",
  review_completed_at: "2026-11-26T15:45:00Z",
  reversed_at: null,
  objections: 1,
  obligations_open: 0,
  missing: [],
};

export const NOTICE_EXAMPLE = {
  notice_id: "evt_notice_001",
  ...ASSET,
  ...SUBJECT,
  ...CASE,
  decision_id: null,
  channel: "in_app",
  locale: "ko",
  policy_version: "4",
  shown_at: "2026-11-20T09:59:30Z",
  dismissed_at: null,
  acknowledged_at: "2026-11-20T09:59:41Z",
  state: "acknowledged",
};

export const OBJECTION_EXAMPLE = {
  objection_id: "obj_7",
  decision_id: "dec_42",
  ...CASE,
  ...ASSET,
  ...SUBJECT,
  objection_type: "automated_decision_refusal",
  state: "resolved",
  received_at: "2026-11-21T09:00:00Z",
  acknowledged_at: "2026-11-23T01:00:00Z",
  escalated_at: null,
  resolved_at: "2026-11-27T09:00:00Z",
  resolution: "upheld",
  reason: "The income was read wrongly",
  due_at: "2026-12-31T14:59:59Z",
  extensions: 1,
  extension_reasons: ["Documents of the employer are awaited"],
  days: 6,
  late: false,
};

export const HUMAN_REVIEW_EXAMPLE = {
  review_id: "evt_review_001",
  decision_id: "dec_42",
  ...ASSET,
  ...SUBJECT,
  state: "completed",
  triggered_at: "2026-11-25T09:00:00Z",
  triggered_by: "user_refusal",
  reason: null,
  completed_at: "2026-11-26T15:45:00Z",
  reviewer_id: "reviewer_3",
  decision_outcome: "denied",
  final_outcome: "approved",
  changed: true,
  hours: 30.75,
};

export const INCIDENT_EXAMPLE = {
  incident_id: "inc_3",
  ...ASSET,
  incident_class: "property",
  severity: "serious",
  state: "reported",
  detected_at: "2026-09-01T10:00:00Z",
  detected_again: 0,
  aware_at: null,
  authority: "Market surveillance authority",
  report_due_at: "2026-09-16T21:59:59Z",
  initial_report_at: "2026-09-04T08:00:00Z",
  complete_report_at: null,
  mitigated_at: null,
  root_cause: "A feature was missing for a day",
  affected_count: "37",
};

export const ASSESSMENT_EXAMPLE = {
  assessment_id: "asm_2026",
  ...ASSET,
  assessment_type: "fria",
  version: "2",
  state: "completed",
  started_at: "2026-08-03T09:00:00Z",
  updated_at: "2026-08-20T09:00:00Z",
  completed_at: "2026-09-02T09:00:00Z",
  valid_until: "2027-09-02",
  checklist: [
    { item: "affected persons", state: true },
    { item: "risk mitigation measures", state: "approved with conditions" },
  ],
};

export const RISK_CHANGE_EXAMPLE = {
  event_id: "evt_risk_001",
  ...ASSET,
  at: "2026-09-03T09:00:00Z",
  from_tier: "limited",
  to_tier: "high",
  reason: "Now decides without a person",
  ruleset_version: "2026-08-02",
  actor: "risk-committee",
  input: { domain: "finance_credit_evaluation", decision_autonomy: "full_auto", user_impact: "high" },
  clauses: ["AI Basic Act art. 2(4)", "EU AI Act Annex III 5(b)"],
};

export const MODEL_EXAMPLE = {
  ...ASSET,
  version: "7.1",
  model: "gradient-boosting",
  state: "deployed",
  deployed_at: "2026-09-10T09:00:00Z",
  retired_at: null,
  degradations: 1,
  degraded_at: "2026-10-02T03:00:00Z",
};

export const COVERAGE_EXAMPLE = {
  ...ASSET,
  law: "pipa_37_2_kr",
  duty: "explanation",
  due: 4,
  in_time: 3,
  late: 1,
  unmet: 0,
  pending: 2,
  waived: 0,
  ratio: 0.75,
  state: "partial",
  clause: "PIPA Enforcement Decree art. 44-3(2), (5)",
  last_evidence_at: "2026-11-20T10:00:00Z",
  example_event_ids: ["evt_explained_3", "evt_explained_2", "evt_explained_1"],
  warnings: [],
};

export const SOURCE_EXAMPLE = {
  source_id: "scoring/0198c0de-0000-7000-8000-000000000000",
  last_number: 1204,
  received: 1202,
  missing: 2,
  last_at: "2026-11-20T10:00:00Z",
  heartbeat_at: "2026-11-20T09:59:55Z",
  heartbeat: { queue_depth: 0, last_source_sequence: 1204 },
};

export const SOURCE_GAP_EXAMPLE = {
  source_id: SOURCE_EXAMPLE.source_id,
  first_number: 871,
  last_number: 872,
  since: "2026-11-20T08:12:03Z",
};

export const OBLIGATION_EXAMPLE = {
  obligation_id: "PIPA-REFUSE:evt_objection_001",
  rule: "PIPA-REFUSE",
  ...ASSET,
  ...SUBJECT,
  decision_id: "dec_42",
  objection_id: "obj_7",
  incident_id: null,
  started_at: "2026-11-21T09:00:00Z",
  started_recorded_at: "2026-11-21T09:00:02Z",
  started_by: "evt_objection_001",
  started_sequence: 12,
  due_at: "2026-12-31T14:59:59Z",
  earliest_decision_at: null,
  extensions: 1,
  stopped_at: "2026-11-27T09:00:00Z",
  stopped_recorded_at: "2026-11-27T09:00:01Z",
  stopped_by: "evt_resolution_001",
  stopped_sequence: 19,
  recorded_late: false,
  waived_at: null,
  waived_by: null,
  waived_reason: null,
  duty: "Undo the decision or have a person decide again, and tell the result",
  law: "pipa_37_2_kr",
  clause: "PIPA Enforcement Decree art. 44-3(1), (5)",
  ruleset_version: "2026-11-22",
  state: "met",
};
