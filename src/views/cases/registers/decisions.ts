import { Type } from "@sinclair/typebox";
import { shortened } from "../../../event/facts.ts";
import { RISK_TIERS } from "../../../event/risk-tiers.ts";
import { type Decision, noticeBefore } from "../../../law/cases/case.ts";
import { DECISION_MADE, type Fact } from "../../../law/cases/fact.ts";
import { LINKED_BY } from "../../../law/cases/links.ts";
import type { Objection } from "../../../law/cases/objection.ts";
import type { Review } from "../../../law/cases/reviews.ts";
import { explainedBy } from "../../../law/obligations/answers.ts";
import { lacksExplanation } from "../../../law/obligations/clocks.ts";
import { lawsWithNoticeClock } from "../../../law/obligations/duties.ts";
import type { Obligation } from "../../../law/obligations/obligation.ts";
import { stateAt } from "../../../law/obligations/state.ts";
import { OUTCOME_CHARACTERS_MAX } from "../../../limits.ts";
import { type List, YES_OR_NO } from "../../kit/list.ts";
import {
  INTEGER,
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
import { decisionLaws } from "./decision-laws.ts";
import { LINKED_BY_RULE, type Register, rowsOfEach } from "./register.ts";

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
    made_at: NULLABLE_TEXT,
    made_recorded_at: NULLABLE_TEXT,
    /** How many other events say that it was made. */
    made_again: INTEGER,
    outcome: NULLABLE_TEXT,
    /** The first notice at or before the decision. */
    notice_at: NULLABLE_TEXT,
    notice_recorded_at: NULLABLE_TEXT,
    /** The rule that links that notice (cases/links.ts). */
    notice_linked_by: NULLABLE_TEXT,
    /** The event_id of that notice; with the legal bases it is evidence of a duty (coverage/evidence.ts). */
    notice_event_id: NULLABLE_TEXT,
    /** JSON array (decision-laws.ts). */
    legal_bases: TEXT,
    explanation_at: NULLABLE_TEXT,
    explanation_recorded_at: NULLABLE_TEXT,
    review_triggered_at: NULLABLE_TEXT,
    review_triggered_recorded_at: NULLABLE_TEXT,
    review_completed_at: NULLABLE_TEXT,
    review_completed_recorded_at: NULLABLE_TEXT,
    reversed_at: NULLABLE_TEXT,
    reversed_recorded_at: NULLABLE_TEXT,
    objections: INTEGER,
    obligations_open: INTEGER,
    /** How many were met late or can never be met any more. */
    obligations_late: INTEGER,
    /** When the first of those that are open falls due. */
    open_due_at: NULLABLE_TEXT,
    /** JSON array of the steps that are not in the log, each with the time at which it falls due; null where it is missing at once. */
    steps: TEXT,
  },
  // Nobody looks up a decision by its id here: it is found by the names of its case. So the key is in the order of the list, in which nearly all of them arrive.
  primaryKey: ["tenant", "at", "decision_id"],
  indexes: [
    ["tenant", "outcome", "at", "decision_id"],
    ["tenant", "asset_id", "at", "decision_id", "outcome"],
    // Mostly a person has few decisions, but SDKs that hash an empty text give one person very many.
    ["tenant", "subject_hash", "at", "decision_id", "asset_id", "outcome"],
  ],
} as const satisfies Table;

/** Grouped by their decision. Most cases have none. */
const byDecision = (
  obligations: readonly Obligation[],
): ReadonlyMap<string | undefined, readonly Obligation[]> | undefined =>
  obligations.length === 0 ? undefined : Map.groupBy(obligations, ({ decisionId }) => decisionId);

const isOpen = ({ status }: Obligation): boolean => status === "open";
const isWaived = ({ status }: Obligation): boolean => status === "waived";
const isLate = ({ status }: Obligation): boolean => status === "met_late" || status === "breached";

/** Whether nothing is left to be done for what these ask for. */
const areWaived = (obligations: readonly Obligation[]): boolean =>
  obligations.length > 0 && obligations.every(isWaived);

const NONE: readonly Obligation[] = [];

/** Steps of a decision that the log may not hold. */
export const DECISION_STEPS = [
  "decision",
  "notice",
  "explanation",
  "objection",
  "objection_resolution",
  "human_review",
  "human_review_trigger",
] as const;
export type DecisionStep = (typeof DECISION_STEPS)[number];

/** A step that the log does not hold, and the time at which it falls due: null where it had to come before what is there, "" where no law sets a limit. */
type Step = readonly [name: DecisionStep, dueAt: string | null];

/** Without those that were waived. */
const stepsOf = (
  decision: Decision,
  unmet: readonly Obligation[],
  deadlines: CaseView["deadlines"],
): readonly Step[] => {
  const { made, objections, reviews } = decision;
  const open = unmet.filter(isOpen);
  // There may be thousands of both.
  const byObjection = Map.groupBy(unmet, ({ objectionId }) => objectionId);
  const askedBy = (objection: Objection): readonly Obligation[] =>
    (byObjection.get(objection.id) ?? NONE).filter((each) => isOf([objection], each));
  const steps: Step[] = [];
  if (made === undefined) steps.push(["decision", null]);
  else if (!noticeBefore(decision) && !isNoticeWaived(decision, unmet, deadlines))
    steps.push(["notice", null]);
  const unexplained = lackingExplanation(decision).filter((objection) => {
    const asked = askedBy(objection);
    const explanations = asked.filter(isExplanationDue);
    return !areWaived(explanations.length > 0 ? explanations : asked);
  });
  const explanations = open.filter(isExplanationDue);
  if (explanations.length > 0 || unexplained.length > 0)
    steps.push(["explanation", explanationDue(explanations, unexplained, open)]);
  if (!objections.every(isReceived)) steps.push(["objection", null]);
  const unresolved = objections.filter(
    (objection) => !isResolved(objection) && !areWaived(askedBy(objection)),
  );
  if (unresolved.length > 0)
    steps.push(["objection_resolution", firstDue(open.filter((each) => isOf(unresolved, each)))]);
  const closings = unmet.filter(({ rule }) => rule === "HR-CLOSE");
  const waived = new Set<Fact | undefined>(closings.filter(isWaived).map(({ startedBy }) => startedBy));
  const isLeft = ({ triggered, completed }: Review): boolean =>
    completed === undefined && !waived.has(triggered);
  if (reviews.some(isLeft)) steps.push(["human_review", firstDue(closings.filter(isOpen))]);
  if (!reviews.every(isTriggered)) steps.push(["human_review_trigger", null]);
  return steps;
};

/** Other laws that ask for a notice are not waived with the clock of one. */
const isNoticeWaived = (
  decision: Decision,
  unmet: readonly Obligation[],
  deadlines: CaseView["deadlines"],
): boolean => {
  if (!areWaived(unmet.filter(({ rule }) => rule === "LL144-NOTICE"))) return false;
  const withClock = lawsWithNoticeClock(deadlines);
  return decisionLaws(decision).every((law) => withClock.has(law));
};

const NO_LIMIT = "";

const firstDue = (obligations: readonly Obligation[]): string =>
  obligations.map(({ dueAt }) => dueAt).sort()[0] ?? NO_LIMIT;

/** Limits for the answer, since it was received last. The acknowledgement is no answer. */
const isOf = (objections: readonly Objection[], { rule, objectionId, startedBy }: Obligation): boolean =>
  rule !== "OBJ-ACK" &&
  objections.some(({ id, received }) => id === objectionId && (!received || startedBy.at >= received.at));

/** Where no law limits the explanation itself, with the answer to the objection; at once where that came without one. */
const explanationDue = (
  explanations: readonly Obligation[],
  unexplained: readonly Objection[],
  open: readonly Obligation[],
): string | null => {
  if (explanations.length > 0) return firstDue(explanations);
  return unexplained.every(isResolved) ? null : firstDue(open.filter((each) => isOf(unexplained, each)));
};

const isReceived = ({ received }: Objection): boolean => received !== undefined;
const isResolved = ({ resolved }: Objection): boolean => resolved !== undefined;
const isTriggered = ({ triggered }: Review): boolean => triggered !== undefined;
const isCompleted = ({ completed }: Review): boolean => completed !== undefined;

const EXPLANATION_DUE: readonly string[] = ["CIA-EXPL", "CO-ADVERSE", "PIPA-EXPL"];
const isExplanationDue = ({ rule }: Obligation): boolean => EXPLANATION_DUE.includes(rule);

const lackingExplanation = ({ objections, explanations }: Decision): readonly Objection[] => {
  if (objections.length === 0) return objections;
  const explained = explainedBy(explanations);
  return objections.filter((objection) => lacksExplanation(objection, explained));
};

const rowOf = (
  { tenant, is: { links }, deadlines }: Pick<CaseView, "tenant" | "is" | "deadlines">,
  decision: Decision,
  obligations: readonly Obligation[],
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
  const open = obligations.filter(isOpen);
  const steps = stepsOf(
    decision,
    obligations.filter((each) => isOpen(each) || isWaived(each)),
    deadlines,
  );
  const laws = decisionLaws(decision);
  const notice = noticeBefore(decision);
  const [explanation] = explanations;
  const [reversal] = reversals;
  const triggered = reviews.find(isTriggered)?.triggered;
  const completed = reviews.findLast(isCompleted)?.completed;
  return {
    tenant,
    decision_id: id,
    asset_id: first.asset,
    asset_version: first.version ?? null,
    correlation_id: correlation ?? null,
    subject_hash: subject ?? null,
    risk_tier: made?.tier ?? null,
    at: first.at,
    made_at: made?.at ?? null,
    made_recorded_at: made?.recorded ?? null,
    made_again: madeAgain,
    outcome: made?.says.outcome === undefined ? null : shortened(made.says.outcome, OUTCOME_CHARACTERS_MAX),
    notice_at: notice?.at ?? null,
    notice_recorded_at: notice?.recorded ?? null,
    notice_linked_by: (notice && links.decisionOf(notice)?.by) ?? null,
    notice_event_id: notice?.id ?? null,
    legal_bases: laws.length === 0 ? "[]" : JSON.stringify(laws),
    explanation_at: explanation?.at ?? null,
    explanation_recorded_at: explanation?.recorded ?? null,
    review_triggered_at: triggered?.at ?? null,
    review_triggered_recorded_at: triggered?.recorded ?? null,
    review_completed_at: completed?.at ?? null,
    review_completed_recorded_at: completed?.recorded ?? null,
    reversed_at: reversal?.at ?? null,
    reversed_recorded_at: reversal?.recorded ?? null,
    objections: objections.length,
    obligations_open: open.length,
    obligations_late: obligations.length === 0 ? 0 : obligations.filter(isLate).length,
    open_due_at: open.length === 0 ? null : firstDue(open),
    steps: steps.length === 0 ? "[]" : JSON.stringify(steps),
  };
};

export const decisionsRegister: Register = {
  table: DECISIONS,
  kind: "rows",
  rowsOf: (view) => {
    const obligations = byDecision(view.obligations);
    return rowsOfEach(view, view.is.decisions, (_, decision) =>
      rowOf(view, decision, obligations?.get(decision.id) ?? NONE),
    );
  },
};

export const decisionList: List = {
  view: CASES_VIEW,
  table: DECISIONS,
  orderBy: ["at", "decision_id"],
  time: "when it was made; of one that was never seen, when it was first referred to",
  filters: ["asset_id", "subject_hash", "outcome"],
  checked: ["missing", "late", "risk_tier"],
  values: { missing: DECISION_STEPS, late: YES_OR_NO, risk_tier: RISK_TIERS },
  shortened: { outcome: OUTCOME_CHARACTERS_MAX },
  hidden: ["at", "notice_event_id", "legal_bases", "steps", "obligations_late", "open_due_at"],
  about: {
    notice_linked_by: LINKED_BY_RULE,
    made_again:
      "How many other events say that it was made, of those that the case keeps, such as those of another system that uses the same ids. The first counts: what the others say of system, person and outcome stands in the timeline of `/v1/decisions/{decision_id}` alone.",
    outcome: `At most ${OUTCOME_CHARACTERS_MAX} characters of it, with \`…\` behind them where there are more: the event has all.`,
  },
  words: { notice_linked_by: LINKED_BY },
  derived: {
    missing: {
      schema: Type.Array(Type.String(), {
        description:
          "Steps that are due, or were, and that the log does not hold. `notice`: none that a rule links to the decision was shown before it. `explanation`: a law with a limit asks for one, or a person did, who got neither it nor the reason of a denial and did not withdraw the request. A step whose obligation was waived is neither missing nor pending.",
      }),
      of: (row, now) => stepsIn(row, (dueAt) => isDue(dueAt, now)),
    },
    pending: {
      schema: Type.Array(Type.String(), {
        description: "Steps that the log does not hold yet, and that are not due, or have no limit.",
      }),
      of: (row, now) => stepsIn(row, (dueAt) => !isDue(dueAt, now)),
    },
    late: {
      schema: Type.Boolean({
        description:
          "Whether an obligation of it was met late, is overdue at the time of reading, or can never be met any more.",
      }),
      of: (row, now) =>
        rowInteger(row, "obligations_late") > 0 ||
        (row.open_due_at !== null && isDue(rowText(row, "open_due_at"), now)),
    },
  },
};

const isDue = (dueAt: string | null, now: string): boolean =>
  dueAt === null ||
  (dueAt !== NO_LIMIT && stateAt({ status: "open", dueAt, extensions: 0 }, now) === "overdue");

const stepsIn = (row: Row, isAsked: (dueAt: string | null) => boolean): readonly string[] => {
  const text = rowText(row, "steps");
  if (text === "[]") return NO_STEPS;
  const steps: readonly Step[] = JSON.parse(text);
  return steps.flatMap(([name, dueAt]) => (isAsked(dueAt) ? [name] : []));
};

const NO_STEPS: readonly string[] = [];
