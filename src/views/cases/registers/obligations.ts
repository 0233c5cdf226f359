/** The register of obligations, and when each is due for a notification check. */

import { timeKey } from "../../../event/formats.ts";
import {
  DEADLINE_IDS,
  DEADLINE_LAWS,
  deadlineOf,
  dutyOf,
  rulesetVersion,
} from "../../../law/obligations/deadline-table.ts";
import {
  nextBoundary,
  OBLIGATION_STATUSES,
  type Obligation,
  type ObligationState,
  type ObligationStatus,
  type Rules,
  stateAt,
} from "../../../law/obligations/obligation.ts";
import type { Sequence } from "../../../log/outcome.ts";
import { OPERATOR } from "../../kit/all-tenants.ts";
import { entryOf, type List } from "../../kit/list.ts";
import { columnsOf } from "../../kit/read-model.ts";
import { INTEGER, type Row, rowInteger, rowText, type Table, TEXT } from "../../store/tables.ts";
import { type TenantQuery, tenantList } from "../../store/tenant-query.ts";
import type { Write } from "../../store/view-store.ts";
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

/**
 * When each obligation is due for a notification check: at once after a change, and later when time alone changes it. The row is written in the commit
 * that changes the obligation, so no change is missed, whoever is killed (transactional outbox). Read for all tenants together, so `tenant` is the
 * operator's and `owner` the obligation's. No part of what a view must hold.
 */
export const DUTY_AGENDA = {
  name: "duty_agenda",
  columns: {
    tenant: TEXT,
    owner: TEXT,
    obligation_id: TEXT,
    /** A time as text that sorts by time, CHANGED or NEVER. */
    at: TEXT,
    /** The end of the commit that changed the obligation last, which tells two changes apart. */
    sequence: INTEGER,
  },
  primaryKey: ["tenant", "owner", "obligation_id"],
  indexes: [["tenant", "at", "owner", "obligation_id", "sequence"]],
} as const satisfies Table;

export const CHANGED = "";
export const NEVER = "~";

export const agendaChanges = (
  tenant: string,
  changes: readonly Write[],
  sequence: Sequence,
): readonly Write[] =>
  changes.flatMap((write): readonly Write[] => {
    if (write.kind === "upsert" && write.table === OBLIGATIONS)
      return [
        { kind: "upsert", table: DUTY_AGENDA, row: { ...keyOf(tenant, write.row), at: CHANGED, sequence } },
      ];
    if (write.kind === "delete" && write.table === OBLIGATIONS)
      return [{ kind: "delete", table: DUTY_AGENDA, key: keyOf(tenant, write.key) }];
    return [];
  });

const keyOf = (tenant: string, duty: Row) => ({
  tenant: OPERATOR,
  owner: tenant,
  obligation_id: rowText(duty, "obligation_id"),
});

/** A replayed dead letter changes obligations behind the notifier's position: their time comes now. */
export const dueNow = (writes: readonly Write[], now: Date): readonly Write[] =>
  writes.map((write) =>
    write.kind === "upsert" && write.table === DUTY_AGENDA
      ? { ...write, row: { ...write.row, at: timeKey(now.toISOString()) } }
      : write,
  );

export const agendaQuery = (before: string, rowsMax: number): TenantQuery =>
  tenantList({
    tenant: OPERATOR,
    table: DUTY_AGENDA,
    columns: ["tenant", "owner", "obligation_id", "at", "sequence"],
    where: [{ kind: "range", column: "at", to: before }],
    orderBy: ["at", "owner", "obligation_id"],
    order: "asc",
    rowsMax,
  });

export const allDutiesQuery = (after: Row | undefined, rowsMax: number): TenantQuery =>
  tenantList({
    tenant: OPERATOR,
    table: DUTY_AGENDA,
    columns: ["owner", "obligation_id"],
    where: [],
    orderBy: ["owner", "obligation_id"],
    order: "asc",
    after: after && [rowText(after, "owner"), rowText(after, "obligation_id")],
    rowsMax,
  });
