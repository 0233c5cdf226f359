import type { Objection } from "../../../cases/case.ts";
import { INTEGER, NULLABLE_TEXT, type RowOf, type Table, TEXT } from "../../../views/tables.ts";
import type { List } from "../../list.ts";
import type { CaseView } from "../case-view.ts";
import { type Register, rowsOfEach } from "./register.ts";

export const OBJECTIONS = {
  name: "objections",
  columns: {
    tenant: TEXT,
    objection_id: TEXT,
    decision_id: NULLABLE_TEXT,
    asset_id: TEXT,
    subject_hash: NULLABLE_TEXT,
    objection_type: NULLABLE_TEXT,
    /** When it was received; for one that was never seen, when it was first referred to. */
    at: TEXT,
    /** `received`, `acknowledged`, `escalated`, `resolved`, or `orphan` where it was never received. */
    state: TEXT,
    received_at: NULLABLE_TEXT,
    acknowledged_at: NULLABLE_TEXT,
    escalated_at: NULLABLE_TEXT,
    resolved_at: NULLABLE_TEXT,
    resolution: NULLABLE_TEXT,
    reason: NULLABLE_TEXT,
    /** The earliest limit that the law sets for the answer. */
    due_at: NULLABLE_TEXT,
    extensions: INTEGER,
  },
  primaryKey: ["tenant", "objection_id"],
  indexes: [
    ["tenant", "at", "objection_id"],
    ["tenant", "state", "at", "objection_id"],
    ["tenant", "asset_id", "at", "objection_id"],
    ["tenant", "subject_hash", "at", "objection_id"],
    ["tenant", "decision_id", "at", "objection_id"],
  ],
} as const satisfies Table;

const STATES = ["orphan", "received", "acknowledged", "escalated", "resolved"] as const;

const stateOf = ({ received, acknowledged, escalated, resolved }: Objection): (typeof STATES)[number] => {
  if (!received) return "orphan";
  if (resolved) return "resolved";
  if (escalated) return "escalated";
  return acknowledged ? "acknowledged" : "received";
};

/** Not limits for the answer: the acknowledgement, and the reason that follows the answer. */
const OTHER_LIMITS: readonly string[] = ["OBJ-ACK", "PIPA-DENY"];

const rowOf = (
  { tenant, obligations }: CaseView,
  objection: Objection,
): RowOf<typeof OBJECTIONS> | undefined => {
  const { id, received, acknowledged, escalated, resolved, facts } = objection;
  const [first] = facts;
  if (!first) return undefined;
  const limits = obligations.filter(
    ({ objectionId, deadline }) => objectionId === id && !OTHER_LIMITS.includes(deadline),
  );
  return {
    tenant,
    objection_id: id,
    decision_id: objection.decisionId ?? null,
    asset_id: (received ?? first).asset,
    subject_hash: facts.find(({ subject }) => subject !== undefined)?.subject ?? null,
    objection_type: received?.says.objection_type ?? null,
    at: (received ?? first).at,
    state: stateOf(objection),
    received_at: received?.at ?? null,
    acknowledged_at: acknowledged?.at ?? null,
    escalated_at: escalated?.at ?? null,
    resolved_at: resolved?.at ?? null,
    resolution: resolved?.says.resolution ?? null,
    reason: resolved?.says.reason ?? null,
    due_at: limits.map(({ dueAt }) => dueAt).sort()[0] ?? null,
    extensions: Math.max(0, ...limits.map(({ extensions }) => extensions)),
  };
};

export const objectionsRegister: Register = {
  table: OBJECTIONS,
  kind: "rows",
  rowsOf: (view) => rowsOfEach(view.is.objections, (objection) => rowOf(view, objection)),
};

export const objectionList: List = {
  view: "cases",
  table: OBJECTIONS,
  orderBy: ["at", "objection_id"],
  filters: ["asset_id", "subject_hash", "decision_id", "state"],
  values: { state: STATES },
};
