import { INTEGER, type Table, TEXT } from "../store/tables.ts";

/** Columns that count the events of each hour of the day, in their order. */
export const HOURS = [
  ...(["h00", "h01", "h02", "h03", "h04", "h05", "h06", "h07", "h08", "h09", "h10", "h11"] as const),
  ...(["h12", "h13", "h14", "h15", "h16", "h17", "h18", "h19", "h20", "h21", "h22", "h23"] as const),
] as const;

/** The number of events on a day of the events' own time, in UTC, and in each of its hours: most are 0, which takes a byte in SQLite. */
const COUNTS = {
  events: INTEGER,
  h00: INTEGER,
  h01: INTEGER,
  h02: INTEGER,
  h03: INTEGER,
  h04: INTEGER,
  h05: INTEGER,
  h06: INTEGER,
  h07: INTEGER,
  h08: INTEGER,
  h09: INTEGER,
  h10: INTEGER,
  h11: INTEGER,
  h12: INTEGER,
  h13: INTEGER,
  h14: INTEGER,
  h15: INTEGER,
  h16: INTEGER,
  h17: INTEGER,
  h18: INTEGER,
  h19: INTEGER,
  h20: INTEGER,
  h21: INTEGER,
  h22: INTEGER,
  h23: INTEGER,
} as const satisfies Readonly<Record<"events" | (typeof HOURS)[number], typeof INTEGER>>;

/** One row per day, asset, type and tier. */
export const ACTIVITY = {
  name: "activity",
  columns: {
    tenant: TEXT,
    /** The day, such as `2026-11-20`. */
    start: TEXT,
    asset_id: TEXT,
    event_type: TEXT,
    /** Empty if the event has none. */
    risk_tier: TEXT,
    event_group: TEXT,
    ...COUNTS,
  },
  // The group follows from the type; it is part of the key because all other columns are added up.
  primaryKey: ["tenant", "start", "asset_id", "event_type", "risk_tier", "event_group"],
  indexes: [],
} as const satisfies Table;

/** The same for all assets together: with assets there may be a thousand times as many rows. */
export const ACTIVITY_OF_ALL = {
  name: "activity_of_all",
  columns: {
    tenant: TEXT,
    start: TEXT,
    event_type: TEXT,
    risk_tier: TEXT,
    event_group: TEXT,
    ...COUNTS,
  },
  primaryKey: ["tenant", "start", "event_type", "risk_tier", "event_group"],
  indexes: [],
} as const satisfies Table;
