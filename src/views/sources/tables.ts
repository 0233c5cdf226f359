import { INTEGER, NULLABLE_TEXT, type Table, TEXT } from "../store/tables.ts";

/**
 * Sources that number their events: `metadata.source_id` and `metadata.source_sequence`, from 1. Their heartbeats may say how far they have counted,
 * `metadata.last_source_sequence`: otherwise nobody would know of the last numbers that were sent and lost.
 */
export const SOURCES = {
  name: "sources",
  columns: {
    tenant: TEXT,
    source_id: TEXT,
    /** The highest number seen; 0 if only heartbeats came. */
    last_number: INTEGER,
    /** How many different numbers were seen. */
    received: INTEGER,
    /** How many numbers are missing up to the highest one that was seen or announced. */
    missing: INTEGER,
    last_at: TEXT,
    last_recorded_at: TEXT,
    heartbeat_at: NULLABLE_TEXT,
    heartbeat_recorded_at: NULLABLE_TEXT,
    /** JSON object: the last statements of heartbeats, under their own names. */
    heartbeat: NULLABLE_TEXT,
    /** JSON object: what was said last (latest.ts). */
    said: TEXT,
    /** JSON array of [number, time]: see announced.ts. */
    announced: TEXT,
  },
  primaryKey: ["tenant", "source_id"],
  indexes: [["tenant", "last_at", "source_id"]],
} as const satisfies Table;

/** The members of heartbeats that the register shows: a number or a text each. */
export const HEARTBEAT_KEYS = [
  "queue_depth",
  "outbox_depth",
  "circuit_state",
  "dropped",
  "last_source_sequence",
  "sdk_version",
  "sdk_language",
] as const;

/** Numbers that have not come yet. */
export const SOURCE_GAPS = {
  name: "source_gaps",
  columns: {
    tenant: TEXT,
    source_id: TEXT,
    first_number: INTEGER,
    last_number: INTEGER,
    /**
     * The time of the event after the gap, which revealed it; if none has come, of the first heartbeat that announced numbers of it (announced.ts).
     */
    since: TEXT,
  },
  primaryKey: ["tenant", "source_id", "first_number"],
  indexes: [
    ["tenant", "since", "source_id", "first_number"],
    ["tenant", "source_id", "since", "first_number"],
  ],
} as const satisfies Table;
