import { NULLABLE_TEXT, type Table, TEXT } from "../store/tables.ts";

/** Impact assessments and bias audits. */
export const ASSESSMENTS = {
  name: "assessments",
  columns: {
    tenant: TEXT,
    /** `metadata.assessment_id`, or else the asset. */
    assessment_id: TEXT,
    asset_id: TEXT,
    assessment_type: NULLABLE_TEXT,
    version: NULLABLE_TEXT,
    /** The time of the first event about it. */
    at: TEXT,
    /** `started`, `completed`, or `orphan` if only updates are in the log. */
    state: TEXT,
    started_at: NULLABLE_TEXT,
    started_recorded_at: NULLABLE_TEXT,
    updated_at: NULLABLE_TEXT,
    updated_recorded_at: NULLABLE_TEXT,
    completed_at: NULLABLE_TEXT,
    completed_recorded_at: NULLABLE_TEXT,
    /** As stated; for a bias audit without a stated end, the last date of the year after its completion (NYC Administrative Code § 20-871(a)). */
    valid_until: NULLABLE_TEXT,
    /** JSON object: what was said last (latest.ts); items of the checklist by their names behind the prefix. */
    said: TEXT,
  },
  primaryKey: ["tenant", "assessment_id"],
  indexes: [
    ["tenant", "at", "assessment_id"],
    ["tenant", "state", "at", "assessment_id"],
    ["tenant", "asset_id", "at", "assessment_id"],
  ],
} as const satisfies Table;

/** The prefix of checklist items among the statements. No event type and no other name begins with it. */
export const CHECKLIST_ITEM = "item:";

/** Every change of a risk classification, with its reason. */
export const RISK_CHANGES = {
  name: "risk_changes",
  columns: {
    tenant: TEXT,
    event_id: TEXT,
    asset_id: TEXT,
    at: TEXT,
    recorded_at: TEXT,
    from_tier: NULLABLE_TEXT,
    to_tier: NULLABLE_TEXT,
    reason: NULLABLE_TEXT,
    ruleset_version: NULLABLE_TEXT,
    actor: NULLABLE_TEXT,
    /** JSON: what was classified, as in the event. */
    input: NULLABLE_TEXT,
    /** JSON array of the articles that the event names. */
    clauses: TEXT,
  },
  primaryKey: ["tenant", "event_id"],
  indexes: [
    ["tenant", "at", "event_id"],
    ["tenant", "asset_id", "at", "event_id"],
  ],
} as const satisfies Table;

export const ASSESSMENT_STATES = ["started", "completed", "orphan"] as const;
export type AssessmentState = (typeof ASSESSMENT_STATES)[number];
