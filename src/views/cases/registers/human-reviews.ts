import { type Decision, decisionsById } from "../../../law/cases/case.ts";
import { LINKED_BY } from "../../../law/cases/links.ts";
import type { Review } from "../../../law/cases/reviews.ts";
import { elapsed } from "../../kit/elapsed.ts";
import { type List, YES_OR_NO } from "../../kit/list.ts";
import { NULLABLE_INTEGER, NULLABLE_TEXT, type RowOf, type Table, TEXT } from "../../store/tables.ts";
import { CASES_VIEW } from "../tables.ts";
import { LINKED_BY_RULE, type Register, rowsOfEach } from "./register.ts";

export const HUMAN_REVIEWS = {
  name: "human_reviews",
  columns: {
    tenant: TEXT,
    /** The event that triggered it; if nothing did, the event that completed it. */
    review_id: TEXT,
    decision_id: NULLABLE_TEXT,
    /** The rule that links it to the decision (cases/links.ts). */
    linked_by: NULLABLE_TEXT,
    asset_id: TEXT,
    subject_hash: NULLABLE_TEXT,
    at: TEXT,
    /** `open`, `completed`, or `orphan` if nothing triggered it. */
    state: TEXT,
    triggered_at: NULLABLE_TEXT,
    triggered_recorded_at: NULLABLE_TEXT,
    triggered_by: NULLABLE_TEXT,
    reason: NULLABLE_TEXT,
    completed_at: NULLABLE_TEXT,
    completed_recorded_at: NULLABLE_TEXT,
    reviewer_id: NULLABLE_TEXT,
    decision_outcome: NULLABLE_TEXT,
    final_outcome: NULLABLE_TEXT,
    /** 1 if the person decided differently from the system, 0 if not; null if one of the outcomes is not known. */
    changed: NULLABLE_INTEGER,
  },
  primaryKey: ["tenant", "review_id"],
  indexes: [
    ["tenant", "at", "review_id"],
    ["tenant", "state", "at", "review_id"],
    ["tenant", "asset_id", "at", "review_id", "state"],
    ["tenant", "decision_id", "at", "review_id"],
  ],
} as const satisfies Table;

export const HUMAN_REVIEW_STATES = ["open", "completed", "orphan"] as const;
export type HumanReviewState = (typeof HUMAN_REVIEW_STATES)[number];

const rowOf = (
  tenant: string,
  review: Review,
  decision: Decision | undefined,
): RowOf<typeof HUMAN_REVIEWS> | undefined => {
  const { triggered, completed, decisionId } = review;
  const first = triggered ?? completed;
  if (!first) return undefined;
  const decided = decision?.made?.says.outcome ?? null;
  const final = completed?.says.final_outcome ?? completed?.says.outcome ?? null;
  return {
    tenant,
    review_id: review.id,
    decision_id: decisionId ?? null,
    linked_by: review.linkedBy ?? null,
    asset_id: first.asset,
    subject_hash: triggered?.subject ?? completed?.subject ?? null,
    at: first.at,
    state: (!triggered ? "orphan" : completed ? "completed" : "open") satisfies HumanReviewState,
    triggered_at: triggered?.at ?? null,
    triggered_recorded_at: triggered?.recorded ?? null,
    triggered_by: triggered?.says.triggered_by ?? null,
    reason: triggered?.says.reason ?? null,
    completed_at: completed?.at ?? null,
    completed_recorded_at: completed?.recorded ?? null,
    reviewer_id: completed?.says.reviewer_id ?? triggered?.says.reviewer_id ?? null,
    decision_outcome: decided,
    final_outcome: final,
    changed: changedBy(decided, final),
  };
};

/** Words for an outcome that leaves the decision as it was (DOMAIN 2b). */
const LEAVES_AS_IT_WAS: readonly string[] = ["upheld", "confirmed", "affirmed", "unchanged"];

const changedBy = (decided: string | null, final: string | null): number | null => {
  if (final !== null && LEAVES_AS_IT_WAS.includes(final.trim().toLowerCase())) return 0;
  return decided === null || final === null ? null : Number(!isSameWord(decided, final));
};

/** As rules compare words: upper and lower case are the same. */
const isSameWord = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const NONE: readonly never[] = [];

export const humanReviewsRegister: Register = {
  table: HUMAN_REVIEWS,
  kind: "rows",
  rowsOf: (view) => {
    const { decisions, reviews } = view.is;
    if (reviews.length === 0) return NONE;
    const byId = decisionsById(decisions);
    return rowsOfEach(view, reviews, ({ tenant }, review) =>
      rowOf(tenant, review, byId.get(review.decisionId)),
    );
  },
};

export const humanReviewList: List = {
  view: CASES_VIEW,
  table: HUMAN_REVIEWS,
  orderBy: ["at", "review_id"],
  time: "when it was triggered; of one that nothing triggered, when it was completed",
  filters: ["asset_id", "decision_id", "state"],
  checked: ["subject_hash", "changed"],
  values: { state: HUMAN_REVIEW_STATES, changed: YES_OR_NO },
  hidden: ["at"],
  words: { linked_by: LINKED_BY },
  flags: ["changed"],
  about: {
    linked_by: LINKED_BY_RULE,
    changed:
      "Whether the person decided differently from the system. False for an outcome of `upheld`, `confirmed`, `affirmed` or `unchanged`. Null where one of the outcomes is not in the log.",
  },
  derived: { hours: elapsed("hours", { from: "triggered_at", to: "completed_at" }) },
};
