import { INTEGER, type Table, TEXT } from "../../views/tables.ts";

export const CASES_VIEW = "cases";

/**
 * One row per name that events refer to: a decision, an objection, an incident, a correlation. It keeps the facts of the events that refer to
 * it first of all, and the names that stand beside it in any event. What hangs together by these names is a case.
 */
export const CASE_NODES = {
  name: "case_nodes",
  columns: {
    tenant: TEXT,
    /** Kind and value: `decision:dec_42`. */
    node: TEXT,
    /** JSON array of facts (src/cases/stored-fact.ts), in their order, with what is gone at most CASE_FACTS_MAX. */
    facts: TEXT,
    /** JSON array of what is left of facts whose case has expired (nodes.ts), in the same order. */
    gone: TEXT,
    /** Events that refer to it first of all, those beyond the limit too, and those that have expired. */
    events: INTEGER,
    /** Times of the first and the last of the events beyond the limit, with a space between them; empty where there are none. */
    others: TEXT,
    /** JSON array of nodes in order, at most CASE_NEIGHBOURS_MAX and one more. */
    neighbours: TEXT,
  },
  primaryKey: ["tenant", "node"],
  indexes: [],
} as const satisfies Table;

/**
 * What retention did with the view: one row, changed with every case that expires. A view that is made again does not know of any, so all cases
 * are looked at right after.
 */
export const CASE_EXPIRY = {
  name: "case_expiry",
  columns: {
    name: TEXT,
    /** Counts up, so that who read a case before it expired notices. */
    revisions: INTEGER,
    /** Milliseconds since 1970: when all cases were last looked at; 0 for never. */
    walked_at: INTEGER,
  },
  primaryKey: ["name"],
  indexes: [],
} as const satisfies Table;

export const CASE_EXPIRY_KEY = { name: CASES_VIEW };
