import { INTEGER, type Table, TEXT } from "../../views/tables.ts";
import { DUTY_COUNTS } from "../coverage/duty-counts.ts";

/** One row per outcome that an event names by its hash: which assets gave it out, and whether it was labeled. */
export const OUTCOMES = {
  name: "outcomes",
  columns: {
    tenant: TEXT,
    /** In lower case. */
    outcome_hash: TEXT,
    /** JSON array of asset_ids in order, at most OUTCOME_ASSETS_MAX: the hash of a word such as "denied" is that of many. */
    assets: TEXT,
    /** 1 where an event labels it, of whatever asset. */
    is_labeled: INTEGER,
  },
  primaryKey: ["tenant", "outcome_hash"],
  indexes: [],
} as const satisfies Table;

/** How many outcomes each asset gave out, and how many of them were labeled. */
export const LABELING = { name: "labeling", ...DUTY_COUNTS } as const satisfies Table;

/** One row per event that labels an outcome: the evidence. */
export const OUTCOME_LABELS = {
  name: "outcome_labels",
  columns: { tenant: TEXT, asset_id: TEXT, at: TEXT, event_id: TEXT },
  primaryKey: ["tenant", "asset_id", "at", "event_id"],
  indexes: [],
} as const satisfies Table;
