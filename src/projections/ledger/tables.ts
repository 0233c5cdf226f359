import { INTEGER, type Table, TEXT } from "../../views/tables.ts";
import type { ViewDefinition } from "../../views/view-store.ts";

export const LEDGER_VIEW = "ledger";

/** What the log holds, hour by hour of `received_at`: every record, repeated ones too. */
export const LEDGER = {
  name: "ledger",
  columns: {
    tenant: TEXT,
    /** `2026-11-20T10` */
    hour: TEXT,
    records: INTEGER,
    /** Records of events that the log held already. */
    repeated: INTEGER,
    /** Records whose event lacks what every event has: no version of the program would have taken them. */
    malformed: INTEGER,
    first_sequence: INTEGER,
    last_sequence: INTEGER,
  },
  primaryKey: ["tenant", "hour"],
  indexes: [],
} as const satisfies Table;

/** The last hour that was reconciled by itself: one row. */
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
