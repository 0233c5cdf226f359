import { Type } from "@sinclair/typebox";
import { type Decision, decisionsById } from "../../../law/cases/case.ts";
import type { Fact } from "../../../law/cases/fact.ts";
import { LINKED_BY } from "../../../law/cases/links.ts";
import type { Objection } from "../../../law/cases/objection.ts";
import type { Obligation } from "../../../law/obligations/obligation.ts";
import { stateAt } from "../../../law/obligations/state.ts";
import { elapsed } from "../../kit/elapsed.ts";
import { type List, YES_OR_NO } from "../../kit/list.ts";
import { INTEGER, NULLABLE_TEXT, type Row, type RowOf, type Table, TEXT } from "../../store/tables.ts";
import { CASES_VIEW } from "../tables.ts";
import { LINKED_BY_RULE, type Register, rowsOfEach } from "./register.ts";

export const OBJECTIONS = {
  name: "objections",
  columns: {
    tenant: TEXT,
    objection_id: TEXT,
    decision_id: NULLABLE_TEXT,
    /** The rule that links it to the decision (cases/links.ts). */
    linked_by: NULLABLE_TEXT,
    /** Its own, or else that of its decision. */
    correlation_id: NULLABLE_TEXT,
    asset_id: TEXT,
    subject_hash: NULLABLE_TEXT,
    objection_type: NULLABLE_TEXT,
    /** When it was last received; if it was never seen, when it was first referred to. */
    at: TEXT,
    /** `received`, `acknowledged`, `escalated`, `resolved`, or `orphan` if it was never received. */
    state: TEXT,
    received_at: NULLABLE_TEXT,
    received_recorded_at: NULLABLE_TEXT,
    acknowledged_at: NULLABLE_TEXT,
    acknowledged_recorded_at: NULLABLE_TEXT,
    escalated_at: NULLABLE_TEXT,
    escalated_recorded_at: NULLABLE_TEXT,
    resolved_at: NULLABLE_TEXT,
    resolved_recorded_at: NULLABLE_TEXT,
    resolution: NULLABLE_TEXT,
    reason: NULLABLE_TEXT,
    /** The earliest deadline that a law sets for the answer. */
    due_at: NULLABLE_TEXT,
    extensions: INTEGER,
    /** JSON array: the stated reason of each extension. */
    extension_reasons: TEXT,
    /** 1 if the answer came after a deadline. */
    answered_late: INTEGER,
    /** The earliest deadline that still waits for the answer. A deadline may be met before the objection is resolved, by an explanation. */
    open_due_at: NULLABLE_TEXT,
  },
  primaryKey: ["tenant", "objection_id"],
  indexes: [
    ["tenant", "at", "objection_id"],
    ["tenant", "state", "at", "objection_id"],
    ["tenant", "asset_id", "at", "objection_id", "state"],
    ["tenant", "subject_hash", "at", "objection_id"],
    ["tenant", "decision_id", "at", "objection_id"],
  ],
} as const satisfies Table;

export const OBJECTION_STATES = ["orphan", "received", "acknowledged", "escalated", "resolved"] as const;
export type ObjectionState = (typeof OBJECTION_STATES)[number];

const stateOf = ({ received, acknowledged, escalated, resolved }: Objection): ObjectionState => {
  if (!received) return "orphan";
  if (resolved) return "resolved";
  if (escalated) return "escalated";
  return acknowledged ? "acknowledged" : "received";
};

/** Deadlines of something other than the answer: the acknowledgement, and the reason that follows the answer. */
const OTHER_LIMITS: readonly string[] = ["OBJ-ACK", "PIPA-DENY"];

const firstDue = (limits: readonly Obligation[]): string | null =>
  limits.map(({ dueAt }) => dueAt).sort()[0] ?? null;

/** Among several deadlines the one with the most extensions shows the reasons. */
const mostExtended = (limits: readonly Obligation[]): readonly string[] => {
  let most: readonly string[] = [];
  for (const { extensionReasons } of limits)
    if (extensionReasons.length > most.length) most = extensionReasons;
  return most;
};

const correlationIn = (facts: readonly Fact[]): string | undefined =>
  facts.find(({ links }) => links.correlation !== undefined)?.links.correlation;

const rowOf = (
  tenant: string,
  objection: Objection,
  {
    decision,
    obligations,
  }: { readonly decision: Decision | undefined; readonly obligations: readonly Obligation[] },
): RowOf<typeof OBJECTIONS> | undefined => {
  const { id, received, acknowledged, escalated, resolved, facts } = objection;
  const [first] = facts;
  if (!first) return undefined;
  const limits = obligations.filter(({ rule }) => !OTHER_LIMITS.includes(rule));
  // If it was open before, these were deadlines of another answer.
  const ofNow = limits.filter(({ startedBy }) => startedBy.at >= (received ?? first).at);
  const extended = mostExtended(ofNow);
  return {
    tenant,
    objection_id: id,
    decision_id: objection.decisionId ?? null,
    linked_by: objection.linkedBy ?? null,
    correlation_id: correlationIn(facts) ?? correlationIn(decision?.facts ?? []) ?? null,
    asset_id: (received ?? first).asset,
    subject_hash: facts.find(({ subject }) => subject !== undefined)?.subject ?? null,
    objection_type: objection.type ?? null,
    at: (received ?? first).at,
    state: stateOf(objection),
    received_at: received?.at ?? null,
    received_recorded_at: received?.recorded ?? null,
    acknowledged_at: acknowledged?.at ?? null,
    acknowledged_recorded_at: acknowledged?.recorded ?? null,
    escalated_at: escalated?.at ?? null,
    escalated_recorded_at: escalated?.recorded ?? null,
    resolved_at: resolved?.at ?? null,
    resolved_recorded_at: resolved?.recorded ?? null,
    resolution: resolved?.says.resolution ?? null,
    reason: resolved?.says.reason ?? null,
    due_at: firstDue(ofNow),
    extensions: extended.length,
    extension_reasons: JSON.stringify(extended),
    answered_late: limits.some(({ status }) => status === "met_late") ? 1 : 0,
    open_due_at: firstDue(limits.filter(({ status }) => status === "open")),
  };
};

const NONE: readonly never[] = [];

export const objectionsRegister: Register = {
  table: OBJECTIONS,
  kind: "rows",
  rowsOf: (view) => {
    const { decisions, objections } = view.is;
    if (objections.length === 0) return NONE;
    const byId = decisionsById(decisions);
    const byObjection = Map.groupBy(view.obligations, ({ objectionId }) => objectionId);
    return rowsOfEach(view, objections, ({ tenant }, objection) =>
      rowOf(tenant, objection, {
        decision: byId.get(objection.decisionId),
        obligations: byObjection.get(objection.id) ?? NONE,
      }),
    );
  },
};

const LATE = Type.Union([
  Type.Boolean({
    description:
      "Whether a limit for the answer was missed; where it is still open, at the time of reading. An explanation in time meets the limit of a request for one, whenever the objection is resolved. Null where no law sets a limit.",
  }),
  Type.Null(),
]);

const isLate = (row: Row, now: string): boolean | null => {
  if (row.due_at === null) return null;
  if (row.answered_late === 1) return true;
  const { open_due_at: dueAt } = row;
  return typeof dueAt === "string" && stateAt({ status: "open", dueAt, extensions: 0 }, now) === "overdue";
};

export const objectionList: List = {
  view: CASES_VIEW,
  table: OBJECTIONS,
  orderBy: ["at", "objection_id"],
  time: "when it was received last; of one that was never received, when it was first referred to",
  filters: ["asset_id", "subject_hash", "decision_id", "state"],
  checked: ["late", "objection_type"],
  values: { state: OBJECTION_STATES, late: YES_OR_NO },
  hidden: ["at", "answered_late", "open_due_at"],
  words: { linked_by: LINKED_BY },
  about: {
    linked_by: LINKED_BY_RULE,
    objection_id:
      "As the events name it, or the `event_id` of the one that opened it. `event:` and an `event_id` where its name, or another one that says more of its place, stands beside more than 64 others, which makes it say nothing.",
    correlation_id: "Of the objection, or else of its decision.",
    received_at:
      "Received again after it was resolved, it is open again: this, and what became of it, is of the last time. Each time has limits of its own.",
    due_at: "The earliest limit that the law sets for the answer, extensions included.",
    extensions:
      "How often the limit was made longer; of several limits the most. What is told without a reason, or after the limit, does not count.",
  },
  json: {
    extension_reasons: Type.Array(Type.String(), { description: "The reason told with each extension." }),
  },
  derived: {
    days: elapsed("days", { from: "received_at", to: "resolved_at" }),
    late: { schema: LATE, of: isLate },
  },
};
