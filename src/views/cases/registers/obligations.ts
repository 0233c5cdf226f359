import { DEADLINE_IDS, DEADLINE_LAWS, deadlineOf } from "../../../law/obligations/deadline-table.ts";
import { dutyOf } from "../../../law/obligations/duties.ts";
import {
  OBLIGATION_STATUSES,
  type Obligation,
  type ObligationStatus,
  type Rules,
} from "../../../law/obligations/obligation.ts";
import { rulesetVersion } from "../../../law/obligations/overrides.ts";
import { nextBoundary, type ObligationState, stateAt } from "../../../law/obligations/state.ts";
import { columnsOf } from "../../kit/columns.ts";
import { entryOf, type List } from "../../kit/list.ts";
import { type Row, rowInteger, rowText } from "../../store/tables.ts";
import { CASES_VIEW } from "../tables.ts";
import { registerOf } from "./register.ts";

interface Entry extends Obligation {
  readonly law: string;
}

const { integer, optional, optionalInteger, text } = columnsOf<Entry>();

/** Whether an obligation is overdue or due soon depends on the time of reading, so `status` says only what the events say (obligations/clocks.ts). */
export const obligationsRegister = registerOf<Entry>({
  name: "obligations",
  thingsIn: ({ obligations, rules }) =>
    obligations.map((each) => ({ ...each, law: dutyOf(rules.deadlines, each.rule).law })),
  columns: {
    obligation_id: text(({ id }) => id),
    rule: text(({ rule }) => rule),
    law: text(({ law }) => law),
    asset_id: text(({ asset }) => asset),
    subject_hash: optional(({ startedBy }) => startedBy.subject),
    decision_id: optional(({ decisionId }) => decisionId),
    objection_id: optional(({ objectionId }) => objectionId),
    incident_id: optional(({ incidentId }) => incidentId),
    started_at: text(({ startedAt }) => startedAt),
    started_recorded_at: text(({ startedRecorded }) => startedRecorded),
    started_by: text(({ startedBy }) => startedBy.id),
    started_sequence: integer(({ startedBy }) => startedBy.sequence),
    due_at: text(({ dueAt }) => dueAt),
    earliest_decision_at: optional(({ earliestDecisionAt }) => earliestDecisionAt),
    extensions: integer(({ extensions }) => extensions),
    extended_recorded_at: optional(({ extendedRecorded }) => extendedRecorded),
    stopped_at: optional(({ stoppedBy }) => stoppedBy?.at),
    stopped_recorded_at: optional(({ stoppedBy }) => stoppedBy?.recorded),
    stopped_by: optional(({ stoppedBy }) => stoppedBy?.id),
    stopped_sequence: optionalInteger(({ stoppedBy }) => stoppedBy?.sequence),
    recorded_late: integer(({ isRecordedLate }) => Number(isRecordedLate)),
    waived_at: optional(({ waiver }) => waiver?.at),
    waived_by: optional(({ waiver }) => waiver?.by),
    waived_reason: optional(({ waiver }) => waiver?.reason),
    waived_sequence: optionalInteger(({ waiver }) => waiver?.sequence),
    status: text(({ status }) => status),
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
});

export const OBLIGATIONS = obligationsRegister.table;

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
      "The last second in time. Of `LL144-NOTICE` the first in which the tool may be used, or where it was used before that or without notice, the time of that.",
    earliest_decision_at:
      "Of `LL144-NOTICE`, from the notice on: the first second in which the tool may be used. Null where there is no notice, and for every other rule.",
    extended_recorded_at: "When the log received the last extension that counts; null where there is none.",
    stopped_recorded_at: "When the log received the event that met it.",
    recorded_late:
      "Whether the events say that it was met in time, while the log received the one that met it, an extension or a later `aware_at` without which it was late, more than LATE_RECORD_GRACE after it had fallen due. True as well while it is not met and such an extension or `aware_at` gives it more time. Of `LL144-NOTICE` that event is the notice, and it falls due with the decision.",
    waived_at: "When it was waived; null if no waiver stands.",
    waived_by: "The id of the API key that waived it.",
    waived_reason: "Why it was waived.",
  },
  hidden: ["waived_sequence", "status"],
};

const statusOf = (row: Row): ObligationStatus =>
  OBLIGATION_STATUSES.find((each) => each === row.status) ?? "open";

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
