import { INTEGER, type Table, TEXT } from "../store/tables.ts";
import type { ViewDefinition } from "../store/view-store.ts";

export const LEDGER_VIEW = "ledger";

/** What the log contains, hour by hour of `received_at`: every record, including repeats. */
export const LEDGER = {
  name: "ledger",
  columns: {
    tenant: TEXT,
    /** The hour, such as `2026-11-20T10`. */
    hour: TEXT,
    records: INTEGER,
    /** Records of events that the log already contained. */
    repeated: INTEGER,
    /** Records whose event lacks a required member: no version of the program would have accepted them. */
    malformed: INTEGER,
    first_sequence: INTEGER,
    last_sequence: INTEGER,
  },
  primaryKey: ["tenant", "hour"],
  indexes: [],
} as const satisfies Table;

/** The last hour that the reconciler has reconciled: one row. */
export const RECONCILED_HOURS = {
  name: "reconciled_hours",
  columns: { name: TEXT, hour: TEXT },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

/** Not a projection: it does not follow from the log. */
export const RECONCILIATION: ViewDefinition = {
  name: "reconciliation",
  version: 1,
  tables: [RECONCILED_HOURS],
};
