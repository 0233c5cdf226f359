import { INTEGER, NULLABLE_TEXT, type Table, TEXT } from "../../views/tables.ts";
import type { TextIndex } from "../../views/text-index.ts";

/**
 * One row per event. Searches come in the order of the log, so each index ends in `sequence`. Later ones win where a
 * search could use two (views/tables.ts): from many events per value to few.
 */
export const EVENTS = {
  name: "events",
  columns: {
    tenant: TEXT,
    /** A UUID in lower case. */
    event_id: TEXT,
    sequence: INTEGER,
    received_at: TEXT,
    /** `received_at` and the event's `timestamp` as text that sorts by time (event/formats.ts). */
    received: TEXT,
    occurred: TEXT,
    asset_id: TEXT,
    event_type: TEXT,
    event_group: TEXT,
    risk_tier: NULLABLE_TEXT,
    correlation_id: NULLABLE_TEXT,
    subject_hash: NULLABLE_TEXT,
    trace_id: NULLABLE_TEXT,
    request_id: TEXT,
    /** JSON text as it was sent. */
    event: TEXT,
  },
  primaryKey: ["tenant", "event_id"],
  indexes: [
    // Holds the times too: a search by time reads the index in order, and rows only where the time is right.
    ["tenant", "sequence", "occurred", "received"],
    ["tenant", "risk_tier", "sequence"],
    ["tenant", "event_group", "sequence"],
    ["tenant", "event_type", "sequence"],
    ["tenant", "asset_id", "sequence"],
    ["tenant", "subject_hash", "sequence"],
    ["tenant", "correlation_id", "sequence"],
    ["tenant", "trace_id", "sequence"],
  ],
} as const satisfies Table;

export const EVENT_LEGAL_BASES = {
  name: "event_legal_bases",
  columns: { tenant: TEXT, legal_basis: TEXT, sequence: INTEGER },
  primaryKey: ["tenant", "legal_basis", "sequence"],
  indexes: [],
  isReadBack: false,
} as const satisfies Table;

export const EVENT_TAGS = {
  name: "event_tags",
  columns: { tenant: TEXT, key: TEXT, value: TEXT, sequence: INTEGER },
  primaryKey: ["tenant", "key", "value", "sequence"],
  indexes: [],
  isReadBack: false,
} as const satisfies Table;

/** The words of each event (words.ts). */
export const EVENT_WORDS: TextIndex = { name: "event_words" };
