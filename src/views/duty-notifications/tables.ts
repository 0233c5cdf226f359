/** What was notified of each obligation, and the messages that wait for the stream. No projections: neither follows from the log. */
import { INTEGER, type Table, TEXT } from "../store/tables.ts";
import type { ViewDefinition } from "../store/view-store.ts";

/** The state and the time of the last notification of each obligation. */
export const NOTIFIED = {
  name: "obligations_told",
  columns: { tenant: TEXT, obligation_id: TEXT, state: TEXT, due_at: TEXT },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

/** Messages in the order in which they are to be published. */
export const OUTBOX = {
  name: "obligation_outbox",
  columns: {
    tenant: TEXT,
    number: INTEGER,
    /** The tenant of the obligation. */
    owner: TEXT,
    transition: TEXT,
    subject: TEXT,
    /** JSON text. Its hash is the id of the message. */
    payload: TEXT,
  },
  primaryKey: ["tenant", "number"],
  indexes: [],
} as const satisfies Table;

/**
 * Its position is how far the log was notified of. Name, table and version are those of v0.1.0, so that an upgrade notifies of nothing again.
 */
export const NOTIFIED_VIEW: ViewDefinition = { name: "announcements", version: 1, tables: [NOTIFIED] };

export const OUTBOX_VIEW: ViewDefinition = { name: "obligation_outbox", version: 1, tables: [OUTBOX] };
