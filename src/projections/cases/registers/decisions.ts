import { Type } from "@sinclair/typebox";
import { type Decision, noticeBefore } from "../../../cases/case.ts";
import { DECISION_MADE } from "../../../cases/fact.ts";
import type { Objection } from "../../../cases/objection.ts";
import type { Review } from "../../../cases/reviews.ts";
import { shortened } from "../../../event/facts.ts";
import { OUTCOME_CHARACTERS_MAX } from "../../../limits.ts";
import { explainedBy } from "../../../obligations/answers.ts";
import { lacksExplanation } from "../../../obligations/clocks.ts";
import type { Obligation } from "../../../obligations/obligation.ts";
import { monthOf } from "../../../views/periods.ts";
import { INTEGER, NULLABLE_TEXT, type RowOf, type Table, TEXT } from "../../../views/tables.ts";
import type { List } from "../../list.ts";
import { CASES_VIEW } from "../tables.ts";
import { decisionLaws } from "./decision-laws.ts";
import { type Register, rowsOfEach } from "./register.ts";

export const DECISIONS = {
  name: "decisions",
  columns: {
    tenant: TEXT,
    decision_id: TEXT,
    asset_id: TEXT,
    asset_version: NULLABLE_TEXT,
    correlation_id: NULLABLE_TEXT,
    subject_hash: NULLABLE_TEXT,
    risk_tier: NULLABLE_TEXT,
    /** When it was made; if it was never seen, when it was first referred to. */
    at: TEXT,
    /** That of `at`, for the index. */
    month: TEXT,
    made_at: NULLABLE_TEXT,
    /** How many other events say that it was made. */
    made_again: INTEGER,
    outcome: NULLABLE_TEXT,
    /** The first notice at or before the decision. */
    notice_at: NULLABLE_TEXT,
    /** The event_id of that notice; with the legal bases it is evidence of a duty (coverage/evidence.ts). */
    notice_event_id: NULLABLE_TEXT,
    /** JSON array (decision-laws.ts). */
    legal_bases: TEXT,
    explanation_at: NULLABLE_TEXT,
    review_triggered_at: NULLABLE_TEXT,
    review_completed_at: NULLABLE_TEXT,
    reversed_at: NULLABLE_TEXT,
    objections: INTEGER,
    obligations_open: INTEGER,
    /** JSON array of steps that are missing in the log. */
    missing: TEXT,
  },
  // Nobody looks up a decision by its id here: it is found by the names of its case. So the key is in the order of the list, in which nearly all of them arrive.
  primaryKey: ["tenant", "at", "decision_id"],
  indexes: [
    ["tenant", "outcome", "at", "decision_id"],
    ["tenant", "asset_id", "at", "decision_id", "outcome"],
  ],
  // Mostly a person has few decisions.
  indexesByMonth: [["tenant", "month", "subject_hash", "at", "decision_id", "asset_id", "outcome"]],
} as const satisfies Table;

/** Grouped by their decision. Most cases have none. */
const openIn = (
  obligations: readonly Obligation[],
): ReadonlyMap<string | undefined, readonly Obligation[]> | undefined =>
  obligations.length === 0
    ? undefined
    : Map.groupBy(
        obligations.filter(({ status }) => status === "open"),
        ({ decisionId }) => decisionId,
      );

const NONE: readonly Obligation[] = [];

/** Steps of a decision that the log should contain but does not. */
const missingSteps = (decision: Decision, open: readonly Obligation[]): readonly string[] => {
  const { made, objections, reviews } = decision;
  const steps: string[] = [];
  if (made === undefined) steps.push("decision");
  else if (!noticeBefore(decision)) steps.push("notice");
  if (open.some(isExplanationDue) || lackExplanation(decision)) steps.push("explanation");
  if (!objections.every(isReceived)) steps.push("objection");
  if (!objections.every(isResolved)) steps.push("objection_resolution");
  if (!reviews.every(isCompleted)) steps.push("human_review");
  if (!reviews.every(isTriggered)) steps.push("human_review_trigger");
  return steps;
};

const isReceived = ({ received }: Objection): boolean => received !== undefined;
const isResolved = ({ resolved }: Objection): boolean => resolved !== undefined;
const isTriggered = ({ triggered }: Review): boolean => triggered !== undefined;
const isCompleted = ({ completed }: Review): boolean => completed !== undefined;

/** Clocks that ask for an explanation even where no person does. */
const EXPLANATION_DUE: readonly string[] = ["CIA-EXPL", "CO-ADVERSE"];
const isExplanationDue = ({ rule }: Obligation): boolean => EXPLANATION_DUE.includes(rule);

const lackExplanation = ({ objections, explanations }: Decision): boolean => {
  if (objections.length === 0) return false;
  const explained = explainedBy(explanations);
  return objections.some((objection) => lacksExplanation(objection, explained));
};

const rowOf = (
  tenant: string,
  decision: Decision,
  open: readonly Obligation[],
): RowOf<typeof DECISIONS> | undefined => {
  const { id, made, explanations, reviews, reversals, objections, facts } = decision;
  const first = made ?? facts[0];
  if (!first) return undefined;
  let subject = made?.subject;
  let correlation: string | undefined;
  let madeAgain = 0;
  for (const fact of facts) {
    if (fact.type === DECISION_MADE && fact !== made) madeAgain++;
    subject ??= fact.subject;
    correlation ??= fact.links.correlation;
  }
  const missing = missingSteps(decision, open);
  const laws = decisionLaws(decision);
  const notice = noticeBefore(decision);
  return {
    tenant,
    decision_id: id,
    asset_id: first.asset,
    asset_version: first.version ?? null,
    correlation_id: correlation ?? null,
    subject_hash: subject ?? null,
    risk_tier: made?.tier ?? null,
    at: first.at,
    month: monthOf(first.at),
    made_at: made?.at ?? null,
    made_again: madeAgain,
    outcome: made?.says.outcome === undefined ? null : shortened(made.says.outcome, OUTCOME_CHARACTERS_MAX),
    notice_at: notice?.at ?? null,
    notice_event_id: notice?.id ?? null,
    legal_bases: laws.length === 0 ? "[]" : JSON.stringify(laws),
    explanation_at: explanations[0]?.at ?? null,
    review_triggered_at: reviews.find(isTriggered)?.triggered?.at ?? null,
    review_completed_at: reviews.findLast(isCompleted)?.completed?.at ?? null,
    reversed_at: reversals[0]?.at ?? null,
    objections: objections.length,
    obligations_open: open.length,
    missing: missing.length === 0 ? "[]" : JSON.stringify(missing),
  };
};

export const decisionsRegister: Register = {
  table: DECISIONS,
  kind: "rows",
  rowsOf: (view) => {
    const open = openIn(view.obligations);
    return rowsOfEach(view, view.is.decisions, ({ tenant }, decision) =>
      rowOf(tenant, decision, open?.get(decision.id) ?? NONE),
    );
  },
};

export const decisionList: List = {
  view: CASES_VIEW,
  table: DECISIONS,
  orderBy: ["at", "decision_id"],
  filters: ["asset_id", "subject_hash", "outcome"],
  shortened: { outcome: OUTCOME_CHARACTERS_MAX },
  hidden: ["at", "month", "notice_event_id", "legal_bases"],
  about: {
    made_again:
      "How many other events say that it was made, of those that the case keeps, such as those of another system that uses the same ids. The first counts: what the others say of system, person and outcome stands in the timeline of `/v1/decisions/{decision_id}` alone.",
    outcome: `At most ${OUTCOME_CHARACTERS_MAX} characters of it, with \`…\` behind them where there are more: the event has all.`,
  },
  json: {
    missing: Type.Array(Type.String(), {
      description:
        "Steps that the log does not hold. `notice`: no notice that names the decision or its case was shown before it, or only to other persons; one that names neither is looked for in `/v1/decisions/{decision_id}` alone. `explanation`: a law with a limit asks for one, or a person did, who got neither it nor the reason of a denial and did not withdraw the request.",
    }),
  },
};
