import { DUTY_COUNTS } from "../coverage/duty-counts.ts";
import { INTEGER, NULLABLE_TEXT, type Table, TEXT } from "../store/tables.ts";

export const ASSETS_VIEW = "assets";

export const ASSETS = {
  name: "assets",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    events: INTEGER,
    first_at: TEXT,
    first_recorded_at: TEXT,
    last_at: TEXT,
    last_recorded_at: TEXT,
    status: TEXT,
    risk_tier: NULLABLE_TEXT,
    version: NULLABLE_TEXT,
    /** JSON array of the legal bases that its events named, in order. */
    legal_bases: TEXT,
    said: TEXT,
  },
  primaryKey: ["tenant", "asset_id"],
  indexes: [
    ["tenant", "last_at", "asset_id"],
    ["tenant", "risk_tier", "asset_id"],
    ["tenant", "status", "asset_id"],
  ],
} as const satisfies Table;

export const ASSET_STATUSES = ["seen", "active", "retired", "archived"] as const;
export type AssetStatus = (typeof ASSET_STATUSES)[number];

/**
 * Duties that apply to every asset, whatever its events are about: its lifecycle evidence is counted here. What other views count is 0 here, so that
 * an asset without decisions or outcomes is shown to have no evidence instead of being left out.
 */
export const ASSET_DUTIES = { name: "asset_duties", ...DUTY_COUNTS } as const satisfies Table;
