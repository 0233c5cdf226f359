import { timeKey } from "../../event/formats.ts";
import { INTEGER, type Row, rowInteger, rowText, type Table, TEXT } from "../store/tables.ts";
import type { TextIndex } from "../store/text-index.ts";

export const EVENTS_VIEW = "events";

/**
 * One row per event, forever. The identity of an expired event stays, so that a repeat is never taken for a first one: its `sequence` is then
 * negative, everything that says something about it is empty, and `received_at` tells reconciliation in which hour it came. Searches with filters
 * read EVENT_WORDS, which contains the labels of each event (terms.ts), so nothing of the event is stored here twice.
 */
export const EVENTS = {
  name: "events",
  columns: {
    tenant: TEXT,
    event_id: TEXT,
    sequence: INTEGER,
    /** As in the record, always to the millisecond, so that it sorts by time. */
    received_at: TEXT,
    /** The id of the request that brought it: with it, the row contains everything of the record, and a proof need not read the log. */
    request_id: TEXT,
    occurred: TEXT,
    /** The tier and the law that decide how long it is kept (src/access/retention/age.ts), and the time from which that counts. */
    retention_class: TEXT,
    counted_from: TEXT,
    /** Empty until it expires. */
    expired_at: TEXT,
    event: TEXT,
  },
  primaryKey: ["tenant", "event_id"],
  indexes: [
    ["tenant", "retention_class", "counted_from", "sequence"],
    ["tenant", "sequence"],
  ],
} as const satisfies Table;

export const isExpired = (row: Row): boolean => rowInteger(row, "sequence") < 0;

/** The sequence of the event in the log, expired or not. */
export const sequenceOf = (row: Row): number => Math.abs(rowInteger(row, "sequence"));

/** As text that sorts by time in the form of the event's own. */
export const receivedIn = (row: Row): string => timeKey(rowText(row, "received_at"));

/** The words, labels (terms.ts) and times of each event that has not expired. Other terms need another name: a search would miss the old. */
export const EVENT_WORDS: TextIndex = { name: "event_terms" };
