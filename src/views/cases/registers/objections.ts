import { Type } from "@sinclair/typebox";
import { type Decision, decisionsById } from "../../../law/cases/case.ts";
import type { Fact } from "../../../law/cases/fact.ts";
import { LINKED_BY } from "../../../law/cases/links.ts";
import type { Objection } from "../../../law/cases/objection.ts";
import { firstDueOf, isOverdue, type Obligation } from "../../../law/obligations/obligation.ts";
import { elapsed } from "../../kit/elapsed.ts";
import { type List, YES_OR_NO } from "../../kit/list.ts";
import { columnsOf } from "../../kit/read-model.ts";
import type { Row } from "../../store/tables.ts";
import { CASES_VIEW } from "../tables.ts";
import { LINKED_BY_RULE, registerOf } from "./register.ts";

export const OBJECTION_STATES = ["orphan", "received", "acknowledged", "escalated", "resolved"] as const;
export type ObjectionState = (typeof OBJECTION_STATES)[number];

interface Entry extends Objection {
  readonly first: Fact;
  readonly decision: Decision | undefined;
  /** Limits for the answer, of all times that it was open. */
  readonly limits: readonly Obligation[];
  readonly limitsNow: readonly Obligation[];
  /** The reason of each extension; of several limits of the one with the most. */
  readonly reasons: readonly string[];
}

/** Deadlines of something other than the answer: the acknowledgement, and the reason that follows the answer. */
const OTHER_LIMITS: readonly string[] = ["OBJ-ACK", "PIPA-DENY"];

const entryOf = (
  objection: Objection,
  decision: Decision | undefined,
  obligations: readonly Obligation[],
): readonly Entry[] => {
  const first = objection.received ?? objection.facts[0];
  if (!first) return [];
  const limits = obligations.filter(({ rule }) => !OTHER_LIMITS.includes(rule));
  const limitsNow = limits.filter(({ startedBy }) => startedBy.at >= first.at);
  const reasons = limitsNow.reduce<readonly string[]>(
    (most, { extensionReasons: those }) => (those.length > most.length ? those : most),
    [],
  );
  return [{ ...objection, first, decision, limits, limitsNow, reasons }];
};

const stateOf = ({ received, acknowledged, escalated, resolved }: Objection): ObjectionState => {
  if (!received) return "orphan";
  if (resolved) return "resolved";
  if (escalated) return "escalated";
  return acknowledged ? "acknowledged" : "received";
};

const correlationIn = (facts: readonly Fact[] = []): string | undefined =>
  facts.find(({ links }) => links.correlation !== undefined)?.links.correlation;

const { integer, optional, text, times } = columnsOf<Entry>();

export const objectionsRegister = registerOf<Entry>({
  name: "objections",
  thingsIn: ({ is: { decisions, objections }, obligations }) => {
    if (objections.length === 0) return [];
    const byId = decisionsById(decisions);
    const byObjection = Map.groupBy(obligations, ({ objectionId }) => objectionId);
    return objections.flatMap((objection) =>
      entryOf(objection, byId.get(objection.decisionId), byObjection.get(objection.id) ?? []),
    );
  },
  columns: {
    objection_id: text(({ id }) => id),
    decision_id: optional(({ decisionId }) => decisionId),
    linked_by: optional(({ linkedBy }) => linkedBy),
    correlation_id: optional(({ facts, decision }) => correlationIn(facts) ?? correlationIn(decision?.facts)),
    asset_id: text(({ first }) => first.asset),
    subject_hash: optional(({ facts }) => facts.find(({ subject }) => subject !== undefined)?.subject),
    objection_type: optional(({ type }) => type),
    at: text(({ first }) => first.at),
    state: text(stateOf),
    ...times("received", ({ received }) => received),
    ...times("acknowledged", ({ acknowledged }) => acknowledged),
    ...times("escalated", ({ escalated }) => escalated),
    ...times("resolved", ({ resolved }) => resolved),
    resolution: optional(({ resolved }) => resolved?.says.resolution),
    reason: optional(({ resolved }) => resolved?.says.reason),
    due_at: optional(({ limitsNow }) => firstDueOf(limitsNow)),
    extensions: integer(({ reasons }) => reasons.length),
    extension_reasons: text(({ reasons }) => JSON.stringify(reasons)),
    answered_late: integer(({ limits }) => Number(limits.some(({ status }) => status === "met_late"))),
    // A deadline may be met before the objection is resolved, by an explanation.
    open_due_at: optional(({ limits }) => firstDueOf(limits.filter(({ status }) => status === "open"))),
  },
  primaryKey: ["tenant", "objection_id"],
  indexes: [
    ["tenant", "at", "objection_id"],
    ["tenant", "state", "at", "objection_id"],
    ["tenant", "asset_id", "at", "objection_id", "state"],
    ["tenant", "subject_hash", "at", "objection_id"],
    ["tenant", "decision_id", "at", "objection_id"],
  ],
});

export const OBJECTIONS = objectionsRegister.table;

const LATE = Type.Union([
  Type.Boolean({
    description:
      "Whether a limit for the answer was missed; where it is still open, at the time of reading. An explanation in time meets the limit of a request for one, whenever the objection is resolved. Null where no law sets a limit.",
  }),
  Type.Null(),
]);

const isLate = (row: Row, now: string): boolean | null => {
  if (row.due_at === null) return null;
  const { open_due_at: dueAt } = row;
  return row.answered_late === 1 || (typeof dueAt === "string" && isOverdue(dueAt, now));
};

export const objectionList: List = {
  view: CASES_VIEW,
  table: OBJECTIONS,
  orderBy: ["at", "objection_id"],
  time: "when it was last received; of one that was never received, when it was first referred to",
  filters: ["asset_id", "subject_hash", "decision_id", "state"],
  checked: ["late", "objection_type"],
  values: { state: OBJECTION_STATES, late: YES_OR_NO },
  hidden: ["at", "answered_late", "open_due_at"],
  words: { linked_by: LINKED_BY },
  about: {
    linked_by: LINKED_BY_RULE,
    objection_id:
      "As the events name it, or the `event_id` of the one that opened it. `event:` and an `event_id` where its name, or a more specific one, occurs beside more than 64 others, and so identifies nothing.",
    correlation_id: "Of the objection, or else of its decision.",
    received_at:
      "Received again after it was resolved, it reopens: this, and its resolution, are of the last time. Each time has its own limits.",
    due_at: "The earliest limit that the law sets for the answer, extensions included.",
    extensions:
      "How often the limit was extended; of several limits the most. Extensions without a reason, or after the limit, do not count.",
  },
  json: {
    extension_reasons: Type.Array(Type.String(), { description: "The reason given for each extension." }),
  },
  derived: {
    days: elapsed("days", { from: "received_at", to: "resolved_at" }),
    late: { schema: LATE, of: isLate },
  },
};
