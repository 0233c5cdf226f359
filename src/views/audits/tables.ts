import { INTEGER, NULLABLE_TEXT, type Table, TEXT } from "../store/tables.ts";

/** The assessments of an asset that were said to be bias audits, or completed without saying what they are. */
export const AUDITED = {
  name: "audited",
  columns: { tenant: TEXT, asset_id: TEXT, assessment_id: TEXT },
  primaryKey: ["tenant", "asset_id", "assessment_id"],
  indexes: [],
} as const satisfies Table;

/**
 * The stated types and ends of an assessment, and the times of its starts and completions: which years were audited depends on all of them, and the
 * register has only the last.
 */
export const ASSESSMENT_EVENTS = {
  name: "assessment_events",
  columns: {
    tenant: TEXT,
    assessment_id: TEXT,
    at: TEXT,
    event_id: TEXT,
    asset_id: TEXT,
    is_started: INTEGER,
    is_completed: INTEGER,
    assessment_type: NULLABLE_TEXT,
    valid_until: NULLABLE_TEXT,
  },
  primaryKey: ["tenant", "assessment_id", "at", "event_id"],
  indexes: [],
} as const satisfies Table;
