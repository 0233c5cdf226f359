import { INTEGER, type Table, TEXT } from "../store/tables.ts";

export const CASES_VIEW = "cases";

/**
 * One row per name to which events refer: a decision, an objection, an incident, a correlation. It keeps the facts of the events that refer to it in
 * the first place, and the names that are beside it in any event. Everything linked by these names is a case.
 */
export const CASE_NODES = {
  name: "case_nodes",
  columns: {
    tenant: TEXT,
    /** Kind and value, such as `decision:dec_42`. */
    node: TEXT,
    state: TEXT,
  },
  primaryKey: ["tenant", "node"],
  indexes: [],
} as const satisfies Table;

/** How often cases have expired: one row, so that a process that read a case before notices. */
export const CASE_EXPIRY = {
  name: "case_expiry",
  columns: { name: TEXT, revisions: INTEGER },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;
