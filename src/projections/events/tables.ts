import { INTEGER, NULLABLE_TEXT, type Row, rowInteger, type Table, TEXT } from "../../views/tables.ts";
import type { TextIndex } from "../../views/text-index.ts";

export const EVENTS_VIEW = "events";

/**
 * One row per event, for ever: of one that has expired its identity stays, so that a repeat is never taken for a first one. `sequence` has a minus
 * sign then, all that says something about it is empty, and `received_at` tells reconciliation in which hour it came.
 * Searches with filters read EVENT_WORDS, which holds the labels of each event (labels.ts): so nothing of the event stands here a second time.
 */
export const EVENTS = {
  name: "events",
  columns: {
    tenant: TEXT,
    /** A UUID in lower case. */
    event_id: TEXT,
    sequence: INTEGER,
    received_at: TEXT,
    /** Of the request that brought it: with it the record is here as the log holds it, and a proof needs no look into the log. */
    request_id: TEXT,
    /** `received_at` and the event's `timestamp` as text that sorts by time (event/formats.ts). */
    received: TEXT,
    occurred: TEXT,
    /** Tier and law that say how long it is kept (src/retention/age.ts), and the time from which that counts. */
    retention_class: TEXT,
    counted_from: TEXT,
    /** RFC 3339, UTC; null for all that is there. */
    expired_at: NULLABLE_TEXT,
    /** JSON text as it was sent. */
    event: TEXT,
  },
  primaryKey: ["tenant", "event_id"],
  indexes: [
    ["tenant", "retention_class", "counted_from", "sequence"],
    // Holds the times too: a search by time reads the index in order, and rows only where the time is right.
    ["tenant", "sequence", "occurred", "received"],
  ],
  timeIndexes: [
    ["tenant", "occurred", "sequence"],
    ["tenant", "received", "sequence"],
  ],
} as const satisfies Table;

/** Who lets events expire now, and when that was last done: one row. A view that is made again does not know of any, so it is done right after. */
export const EXPIRY_RUNS = {
  name: "expiry_runs",
  columns: {
    name: TEXT,
    /** The process at work; empty for none. */
    holder: TEXT,
    /** Milliseconds since 1970: until then nobody else begins. */
    held_until: INTEGER,
    /** The same; 0 for never. */
    finished_at: INTEGER,
  },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

export const isExpired = (row: Row): boolean => rowInteger(row, "sequence") < 0;

/** Where the event stands in the log, expired or not. */
export const sequenceOf = (row: Row): number => Math.abs(rowInteger(row, "sequence"));

/** The words (event/words.ts), labels (labels.ts) and times of each event that has not expired. */
export const EVENT_WORDS: TextIndex = { name: "event_words" };
