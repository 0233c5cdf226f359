import { NULLABLE_TEXT, type Table, TEXT } from "../../views/tables.ts";

/** Each completed assessment that is a bias audit, or does not say what it is: which years were audited needs all of them, and the register has the last of a name. */
export const AUDITS = {
  name: "audits",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** When it was completed. */
    at: TEXT,
    event_id: TEXT,
    assessment_id: TEXT,
    assessment_type: NULLABLE_TEXT,
    valid_until: NULLABLE_TEXT,
  },
  primaryKey: ["tenant", "asset_id", "at", "event_id"],
  indexes: [],
} as const satisfies Table;

/** What an assessment was said to be, and when: one that ends without saying so is what was said of it last until then. */
export const ASSESSMENT_TYPES = {
  name: "assessment_types",
  columns: { tenant: TEXT, assessment_id: TEXT, at: TEXT, event_id: TEXT, assessment_type: TEXT },
  primaryKey: ["tenant", "assessment_id", "at", "event_id"],
  indexes: [],
} as const satisfies Table;
