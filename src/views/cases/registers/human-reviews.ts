import { type Decision, decisionsById, type Review } from "../../../law/cases/case.ts";
import type { Fact } from "../../../law/cases/fact.ts";
import { LINKED_BY } from "../../../law/cases/links.ts";
import { elapsed } from "../../kit/elapsed.ts";
import { type List, YES_OR_NO } from "../../kit/list.ts";
import { columnsOf } from "../../kit/read-model.ts";
import { CASES_VIEW } from "../tables.ts";
import { LINKED_BY_RULE, registerOf } from "./register.ts";

export const HUMAN_REVIEW_STATES = ["open", "completed", "orphan"] as const;
export type HumanReviewState = (typeof HUMAN_REVIEW_STATES)[number];

interface Entry extends Review {
  readonly first: Fact;
  readonly decision: Decision | undefined;
}

const { optional, optionalInteger, text, times } = columnsOf<Entry>();

const decidedIn = ({ decision }: Entry): string | undefined => decision?.made?.says.outcome;
const finalIn = ({ completed }: Entry): string | undefined =>
  completed?.says.final_outcome ?? completed?.says.outcome;

export const humanReviewsRegister = registerOf<Entry>({
  name: "human_reviews",
  thingsIn: ({ is: { decisions, reviews } }) => {
    if (reviews.length === 0) return [];
    const byId = decisionsById(decisions);
    return reviews.flatMap((review) => {
      const first = review.triggered ?? review.completed;
      return first ? [{ ...review, first, decision: byId.get(review.decisionId) }] : [];
    });
  },
  columns: {
    review_id: text(({ id }) => id),
    decision_id: optional(({ decisionId }) => decisionId),
    linked_by: optional(({ linkedBy }) => linkedBy),
    asset_id: text(({ first }) => first.asset),
    subject_hash: optional(({ triggered, completed }) => triggered?.subject ?? completed?.subject),
    at: text(({ first }) => first.at),
    state: text(
      ({ triggered, completed }): HumanReviewState =>
        !triggered ? "orphan" : completed ? "completed" : "open",
    ),
    ...times("triggered", ({ triggered }) => triggered),
    triggered_by: optional(({ triggered }) => triggered?.says.triggered_by),
    reason: optional(({ triggered }) => triggered?.says.reason),
    ...times("completed", ({ completed }) => completed),
    reviewer_id: optional(
      ({ triggered, completed }) => completed?.says.reviewer_id ?? triggered?.says.reviewer_id,
    ),
    decision_outcome: optional(decidedIn),
    final_outcome: optional(finalIn),
    changed: optionalInteger((review) => changedBy(decidedIn(review), finalIn(review))),
  },
  primaryKey: ["tenant", "review_id"],
  indexes: [
    ["tenant", "at", "review_id"],
    ["tenant", "state", "at", "review_id"],
    ["tenant", "asset_id", "at", "review_id", "state"],
    ["tenant", "decision_id", "at", "review_id"],
  ],
});

export const HUMAN_REVIEWS = humanReviewsRegister.table;

/** Words for an outcome that leaves the decision as it was (DOMAIN 2b). */
const LEAVES_AS_IT_WAS: readonly string[] = ["upheld", "confirmed", "affirmed", "unchanged"];

/** 1 if the person decided differently from the system, 0 if not; upper and lower case are the same. */
const changedBy = (decided: string | undefined, final: string | undefined): number | undefined => {
  if (final !== undefined && LEAVES_AS_IT_WAS.includes(final.trim().toLowerCase())) return 0;
  if (decided === undefined || final === undefined) return undefined;
  return decided.toLowerCase() === final.toLowerCase() ? 0 : 1;
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
