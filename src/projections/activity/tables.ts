import { INTEGER, type Table, TEXT } from "../../views/tables.ts";

/** A day again, of all assets together and with none of them named: there may be a thousand times as many rows with them. */
export const DAY_OF_ALL = "day_of_all";

/** How many events there were: by hour and by day of the event's own time, in UTC. */
export const ACTIVITY = {
  name: "activity",
  columns: {
    tenant: TEXT,
    /** `hour`, `day` or DAY_OF_ALL. */
    bucket: TEXT,
    /** `2026-11-20T10` or `2026-11-20`. */
    start: TEXT,
    asset_id: TEXT,
    event_group: TEXT,
    event_type: TEXT,
    /** Empty where the event has none. */
    risk_tier: TEXT,
    events: INTEGER,
  },
  primaryKey: ["tenant", "bucket", "start", "asset_id", "event_group", "event_type", "risk_tier"],
  indexes: [["tenant", "bucket", "asset_id", "start"]],
} as const satisfies Table;
