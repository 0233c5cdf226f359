import type { Obligation, Rules } from "../../../obligations/clocks.ts";
import { DEADLINE_IDS, DEADLINE_LAWS, deadlineOf } from "../../../obligations/deadlines.ts";
import { dutyOf } from "../../../obligations/duties.ts";
import { rulesetVersion } from "../../../obligations/overrides.ts";
import { type ObligationState, stateAt } from "../../../obligations/state.ts";
import {
  INTEGER,
  NULLABLE_INTEGER,
  NULLABLE_TEXT,
  type Row,
  type RowOf,
  rowInteger,
  rowText,
  type Table,
  TEXT,
} from "../../../views/tables.ts";
import { entryOf, type List } from "../../list.ts";
import type { CaseView } from "../case-view.ts";
import { CASES_VIEW } from "../tables.ts";
import { type Register, rowsOfEach } from "./register.ts";

/** Whether a duty is overdue or due soon depends on the time of reading, so `status` says only what the events say (obligations/clocks.ts). */
export const OBLIGATIONS = {
  name: "obligations",
  columns: {
    tenant: TEXT,
    obligation_id: TEXT,
    deadline: TEXT,
    law: TEXT,
    asset_id: TEXT,
    subject_hash: NULLABLE_TEXT,
    decision_id: NULLABLE_TEXT,
    objection_id: NULLABLE_TEXT,
    incident_id: NULLABLE_TEXT,
    started_at: TEXT,
    started_by: TEXT,
    started_sequence: INTEGER,
    due_at: TEXT,
    extensions: INTEGER,
    stopped_at: NULLABLE_TEXT,
    stopped_by: NULLABLE_TEXT,
    stopped_sequence: NULLABLE_INTEGER,
    status: TEXT,
  },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [
    ["tenant", "due_at", "obligation_id"],
    ["tenant", "status", "due_at", "obligation_id"],
    // A deadline belongs to one law, which has few others. So whoever asks for a deadline asks for its law as well.
    ["tenant", "law", "due_at", "obligation_id", "deadline"],
    ["tenant", "law", "status", "due_at", "obligation_id", "deadline"],
    ["tenant", "asset_id", "due_at", "obligation_id", "law", "status", "deadline"],
    ["tenant", "decision_id", "due_at", "obligation_id"],
  ],
} as const satisfies Table;

const rowOf = ({ tenant, deadlines }: CaseView, obligation: Obligation): RowOf<typeof OBLIGATIONS> => {
  const { startedBy, stoppedBy } = obligation;
  return {
    tenant,
    obligation_id: obligation.id,
    deadline: obligation.deadline,
    law: dutyOf(deadlines, obligation.deadline).law,
    asset_id: obligation.asset,
    subject_hash: startedBy.subject ?? null,
    decision_id: obligation.decisionId ?? null,
    objection_id: obligation.objectionId ?? null,
    incident_id: obligation.incidentId ?? null,
    started_at: obligation.startedAt,
    started_by: startedBy.id,
    started_sequence: startedBy.sequence,
    due_at: obligation.dueAt,
    extensions: obligation.extensions,
    stopped_at: stoppedBy?.at ?? null,
    stopped_by: stoppedBy?.id ?? null,
    stopped_sequence: stoppedBy?.sequence ?? null,
    status: obligation.status,
  };
};

export const obligationsRegister: Register = {
  table: OBLIGATIONS,
  kind: "rows",
  rowsOf: (view) => rowsOfEach(view, view.obligations, rowOf),
};

export const obligationList: List = {
  view: CASES_VIEW,
  table: OBLIGATIONS,
  orderBy: ["due_at", "obligation_id"],
  filters: ["deadline", "law", "asset_id", "decision_id"],
  values: { deadline: DEADLINE_IDS, law: DEADLINE_LAWS },
  about: {
    due_at:
      "The last second that is in time. Of `LL144-NOTICE` the first in which the tool may be used, or where it was used before that or without notice, the time of that.",
  },
  hidden: ["status"],
};

/** The state of a row's duty at a time, which is text that sorts by time, without the zone. */
export const stateOfRow = (row: Row, now: string): ObligationState => {
  const status = rowText(row, "status");
  return stateAt(
    {
      status: status === "met" || status === "met_late" ? status : "open",
      dueAt: rowText(row, "due_at"),
      extensions: rowInteger(row, "extensions"),
    },
    now,
  );
};

/** With the entries of the table of deadlines. */
export const obligationEntry = (row: Row, rules: Rules, now: string) => {
  const deadline = deadlineOf(rules.deadlines, rowText(row, "deadline"));
  return {
    ...entryOf(obligationList, row, now),
    duty: deadline?.duty ?? null,
    clause: deadline?.clause ?? null,
    ruleset_version: rulesetVersion(rules),
    state: stateOfRow(row, now),
  };
};
