import { DUTY_COUNTS } from "../coverage/duty-counts.ts";
import { NULLABLE_TEXT, type Table, TEXT } from "../store/tables.ts";

/** One row per outcome hash in events: which assets generated it, and whether it was labeled. */
export const OUTCOMES = {
  name: "outcomes",
  columns: {
    tenant: TEXT,
    /** In lower case. */
    outcome_hash: TEXT,
    /** JSON array of asset_ids in order, at most OUTCOME_ASSETS_MAX: a word such as "denied" has the same hash for many. */
    assets: TEXT,
    /** The first event that labels it, of whatever asset; null where none does. */
    labeled_asset: NULLABLE_TEXT,
    labeled_at: NULLABLE_TEXT,
    labeled_by: NULLABLE_TEXT,
  },
  primaryKey: ["tenant", "outcome_hash"],
  indexes: [],
} as const satisfies Table;

/** How many outcomes each asset generated, and how many of them were labeled. */
export const LABELING = { name: "labeling", ...DUTY_COUNTS } as const satisfies Table;

/** The evidence: one row per event that labels an outcome, for its own asset; of the first label of each outcome also one for every other asset that gave it out. */
export const OUTCOME_LABELS = {
  name: "outcome_labels",
  columns: { tenant: TEXT, asset_id: TEXT, at: TEXT, event_id: TEXT },
  primaryKey: ["tenant", "asset_id", "at", "event_id"],
  indexes: [],
} as const satisfies Table;
