import { type Table, TEXT } from "../../views/tables.ts";
import type { ViewDefinition } from "../../views/view-store.ts";

/** What was told of each duty last. Not a projection: it does not follow from the log, and a rebuilt view of cases tells nothing again. */
export const TOLD = {
  name: "obligations_told",
  columns: { tenant: TEXT, obligation_id: TEXT, state: TEXT, due_at: TEXT },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [],
} as const satisfies Table;

/** When a duty changes next by time alone. */
export const BOUNDARIES = {
  name: "obligation_boundaries",
  columns: { tenant: TEXT, owner: TEXT, obligation_id: TEXT, at: TEXT },
  primaryKey: ["tenant", "owner", "obligation_id"],
  indexes: [["tenant", "at", "owner", "obligation_id"]],
} as const satisfies Table;

export const ANNOUNCEMENTS: ViewDefinition = {
  name: "announcements",
  version: 1,
  tables: [TOLD, BOUNDARIES],
};
