import { NULLABLE_TEXT, type Table, TEXT } from "../../views/tables.ts";

/**
 * Each completed assessment that is a bias audit, or does not say what it is. The register of assessments has the last one of a name; which years were
 * audited needs all of them.
 */
export const AUDITS = {
  name: "audits",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** When it was completed. */
    at: TEXT,
    event_id: TEXT,
    /** As in the register of assessments, which may know what it is. */
    assessment_id: TEXT,
    assessment_type: NULLABLE_TEXT,
    valid_until: NULLABLE_TEXT,
  },
  primaryKey: ["tenant", "asset_id", "at", "event_id"],
  indexes: [],
} as const satisfies Table;
