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
    /** JSON array of facts (src/law/cases/stored-fact.ts), in their order; together with `gone` at most CASE_FACTS_MAX. */
    facts: TEXT,
    /** JSON array of the remains of facts whose case has expired (nodes.ts), in the same order. */
    gone: TEXT,
    /** JSON array of notices without a name that a decision has by rule 3 of DOMAIN 2b (person-notices.ts), as facts. They count nowhere else. */
    borrowed: TEXT,
    /** The number of events that refer to it in the first place, including those beyond the limit and expired ones. */
    events: INTEGER,
    /** The times of the first and the last event beyond the limit, with a space between them; empty if there are none. */
    others: TEXT,
    /** JSON array of nodes in order, at most CASE_NEIGHBOURS_MAX and one more. */
    neighbours: TEXT,
  },
  primaryKey: ["tenant", "node"],
  indexes: [],
} as const satisfies Table;

/**
 * What retention did with the view: one row, changed with every case that expires. A view that was rebuilt knows of none, so all cases are looked
 * at right after.
 */
export const CASE_EXPIRY = {
  name: "case_expiry",
  columns: {
    name: TEXT,
    /** Increases, so that a process that read a case before it expired notices. */
    revisions: INTEGER,
    /** When all cases were last looked at, in milliseconds since 1970; 0 for never. */
    walked_at: INTEGER,
  },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

export const CASE_EXPIRY_KEY = { name: CASES_VIEW };
