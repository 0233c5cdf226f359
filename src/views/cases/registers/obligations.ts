import { DEADLINE_IDS, DEADLINE_LAWS, deadlineOf } from "../../../law/obligations/deadlines.ts";
import { dutyOf } from "../../../law/obligations/duties.ts";
import {
  OBLIGATION_STATUSES,
  type Obligation,
  type ObligationStatus,
  type Rules,
} from "../../../law/obligations/obligation.ts";
import { rulesetVersion } from "../../../law/obligations/overrides.ts";
import { type ObligationState, stateAt } from "../../../law/obligations/state.ts";
import { nextBoundary } from "../../../law/obligations/transitions.ts";
import { entryOf, type List } from "../../kit/list.ts";
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
} from "../../store/tables.ts";
import type { CaseView } from "../case-view.ts";
import { CASES_VIEW } from "../tables.ts";
import { type Register, rowsOfEach } from "./register.ts";

/** Whether an obligation is overdue or due soon depends on the time of reading, so `status` says only what the events say (obligations/clocks.ts). */
export const OBLIGATIONS = {
  name: "obligations",
  columns: {
    tenant: TEXT,
    obligation_id: TEXT,
    rule: TEXT,
    law: TEXT,
    asset_id: TEXT,
    subject_hash: NULLABLE_TEXT,
    decision_id: NULLABLE_TEXT,
    objection_id: NULLABLE_TEXT,
    incident_id: NULLABLE_TEXT,
    started_at: TEXT,
    started_recorded_at: TEXT,
    started_by: TEXT,
    started_sequence: INTEGER,
    due_at: TEXT,
    earliest_decision_at: NULLABLE_TEXT,
    extensions: INTEGER,
    extended_recorded_at: NULLABLE_TEXT,
    stopped_at: NULLABLE_TEXT,
    stopped_recorded_at: NULLABLE_TEXT,
    stopped_by: NULLABLE_TEXT,
    stopped_sequence: NULLABLE_INTEGER,
    recorded_late: INTEGER,
    waived_at: NULLABLE_TEXT,
    waived_by: NULLABLE_TEXT,
    waived_reason: NULLABLE_TEXT,
    waived_sequence: NULLABLE_INTEGER,
    status: TEXT,
  },
  primaryKey: ["tenant", "obligation_id"],
  indexes: [
    ["tenant", "due_at", "obligation_id"],
    ["tenant", "recorded_late", "due_at", "obligation_id"],
    ["tenant", "status", "due_at", "obligation_id"],
    // A rule belongs to one law, which has few others. So whoever asks for a rule asks for its law as well.
    ["tenant", "law", "due_at", "obligation_id", "rule"],
    ["tenant", "law", "status", "due_at", "obligation_id", "rule"],
    ["tenant", "asset_id", "due_at", "obligation_id", "law", "status", "rule"],
    ["tenant", "decision_id", "due_at", "obligation_id"],
  ],
} as const satisfies Table;

const rowOf = ({ tenant, deadlines }: CaseView, obligation: Obligation): RowOf<typeof OBLIGATIONS> => {
  const { startedBy, stoppedBy, waiver } = obligation;
  return {
    tenant,
    obligation_id: obligation.id,
    rule: obligation.rule,
    law: dutyOf(deadlines, obligation.rule).law,
    asset_id: obligation.asset,
    subject_hash: startedBy.subject ?? null,
    decision_id: obligation.decisionId ?? null,
    objection_id: obligation.objectionId ?? null,
    incident_id: obligation.incidentId ?? null,
    started_at: obligation.startedAt,
    started_recorded_at: obligation.startedRecorded,
    started_by: startedBy.id,
    started_sequence: startedBy.sequence,
    due_at: obligation.dueAt,
    earliest_decision_at: obligation.earliestDecisionAt ?? null,
    extensions: obligation.extensions,
    extended_recorded_at: obligation.extendedRecorded ?? null,
    stopped_at: stoppedBy?.at ?? null,
    stopped_recorded_at: stoppedBy?.recorded ?? null,
    stopped_by: stoppedBy?.id ?? null,
    stopped_sequence: stoppedBy?.sequence ?? null,
    recorded_late: obligation.isRecordedLate ? 1 : 0,
    waived_at: waiver?.at ?? null,
    waived_by: waiver?.by ?? null,
    waived_reason: waiver?.reason ?? null,
    waived_sequence: waiver?.sequence ?? null,
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
  time: "when it falls due",
  filters: ["rule", "law", "asset_id", "decision_id"],
  checked: ["subject_hash", "objection_id", "incident_id"],
  values: { rule: DEADLINE_IDS, law: DEADLINE_LAWS },
  flags: ["recorded_late"],
  about: {
    rule: "Which rule asks for it, such as `GDPR-12-3`.",
    started_recorded_at:
      "When the log received the event that started it. Where an incident counts from the `aware_at` of another event, when it received that one.",
    due_at:
      "The last second that is in time. Of `LL144-NOTICE` the first in which the tool may be used, or where it was used before that or without notice, the time of that.",
    earliest_decision_at:
      "Of `LL144-NOTICE`, from the notice on: the first second in which the tool may be used. Null where there is no notice, and for every other rule.",
    extended_recorded_at: "When the log received the last extension that counts; null where there is none.",
    stopped_recorded_at: "When the log received the event that met it.",
    recorded_late:
      "Whether the events say that it was met in time, while the log received the one that met it, an extension or a later `aware_at` without which it was late, more than LATE_RECORD_GRACE after it had fallen due. True as well while it is not met and such an extension or `aware_at` gives it more time. Of `LL144-NOTICE` that event is the notice, and it falls due with the decision.",
    waived_at: "When it was waived; null where no waiver stands.",
    waived_by: "The id of the API key that waived it.",
    waived_reason: "Why it was waived.",
  },
  hidden: ["waived_sequence", "status"],
};

const statusOf = (row: Row): ObligationStatus =>
  OBLIGATION_STATUSES.find((each) => each === row.status) ?? "open";

/** The state of a row at a time, which is text that sorts by time, without the zone. */
export const stateOfRow = (row: Row, now: string): ObligationState =>
  stateAt(
    { status: statusOf(row), dueAt: rowText(row, "due_at"), extensions: rowInteger(row, "extensions") },
    now,
  );

/** When its state changes next if no event comes; a time as text that sorts by time. */
export const nextChangeOf = (row: Row, now: string): string | undefined =>
  statusOf(row) === "open"
    ? nextBoundary({ state: stateOfRow(row, now), dueAt: rowText(row, "due_at") })
    : undefined;

/** With the entries of the table of deadlines. */
export const obligationEntry = (row: Row, rules: Rules, now: string) => {
  const deadline = deadlineOf(rules.deadlines, rowText(row, "rule"));
  return {
    ...entryOf(obligationList, row, now),
    duty: deadline?.duty ?? null,
    clause: deadline?.clause ?? null,
    ruleset_version: rulesetVersion(rules),
    state: stateOfRow(row, now),
  };
};
