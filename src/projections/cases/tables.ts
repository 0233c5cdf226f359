import { INTEGER, type Table, TEXT } from "../../views/tables.ts";

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
    /** JSON array of facts (src/cases/fact.ts), in their order, at most CASE_FACTS_MAX. */
    facts: TEXT,
    /** Events that refer to it first of all, those beyond the limit too. */
    events: INTEGER,
    /** JSON array of nodes in order, at most CASE_NEIGHBOURS_MAX and one more. */
    neighbours: TEXT,
  },
  primaryKey: ["tenant", "node"],
  indexes: [],
} as const satisfies Table;
