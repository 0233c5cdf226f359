import { Type } from "@sinclair/typebox";
import { shortened } from "../../../event/facts.ts";
import { RISK_TIERS } from "../../../event/risk-tiers.ts";
import { type Decision, noticeBefore, type Review } from "../../../law/cases/case.ts";
import { DECISION_MADE, type Fact, grouped } from "../../../law/cases/fact.ts";
import { LINKED_BY, type Links } from "../../../law/cases/links.ts";
import type { Objection } from "../../../law/cases/objection.ts";
import { explainedBy, lacksExplanation } from "../../../law/obligations/clocks.ts";
import { clocksOf } from "../../../law/obligations/deadline-table.ts";
import { firstDueOf, isOverdue, type Obligation, type Rules } from "../../../law/obligations/obligation.ts";
import { KEPT_LEGAL_BASES_MAX, OUTCOME_CHARACTERS_MAX } from "../../../limits.ts";
import { isRegistered } from "../../coverage/legal-bases.ts";
import { type List, YES_OR_NO } from "../../kit/list.ts";
import { columnsOf } from "../../kit/read-model.ts";
import { type Row, rowInteger, rowText } from "../../store/tables.ts";
import { CASES_VIEW } from "../tables.ts";
import { LINKED_BY_RULE, registerOf } from "./register.ts";

interface Entry extends Decision {
  readonly first: Fact;
  readonly correlation: string | undefined;
  readonly notice: Fact | undefined;
  readonly obligations: readonly Obligation[];
  readonly open: readonly Obligation[];
  readonly rules: Rules;
  readonly links: Links;
}

const { integer, optional, text, times } = columnsOf<Entry>();

const NONE: readonly never[] = [];

export const decisionsRegister = registerOf<Entry>({
  name: "decisions",
  thingsIn: ({ is, obligations, rules }) => {
    const byDecision = grouped(obligations, ({ decisionId }) => decisionId);
    return is.decisions.flatMap((decision) => {
      const first = decision.made ?? decision.facts[0];
      if (!first) return [];
      const own = byDecision.get(decision.id) ?? NONE;
      const correlation = decision.facts.find(({ links }) => links.correlation !== undefined);
      return [
        {
          ...decision,
          first,
          correlation: correlation?.links.correlation,
          notice: noticeBefore(decision),
          obligations: own,
          open: own.length === 0 ? NONE : own.filter(isOpen),
          rules,
          links: is.links,
        },
      ];
    });
  },
  columns: {
    decision_id: text(({ id }) => id),
    asset_id: text(({ first }) => first.asset),
    asset_version: optional(({ first }) => first.version),
    correlation_id: optional(({ correlation }) => correlation),
    subject_hash: optional(
      ({ made, facts }) => made?.subject ?? facts.find(({ subject }) => subject !== undefined)?.subject,
    ),
    risk_tier: optional(({ made }) => made?.tier),
    at: text(({ first }) => first.at),
    ...times("made", ({ made }) => made),
    made_again: integer(({ made, facts }) =>
      facts.length > 1 ? facts.filter((fact) => fact.type === DECISION_MADE && fact !== made).length : 0,
    ),
    outcome: optional(
      ({ made }) => made?.says.outcome && shortened(made.says.outcome, OUTCOME_CHARACTERS_MAX),
    ),
    // The first notice at or before the decision; with the legal bases it is evidence of an obligation (coverage/evidence.ts).
    ...times("notice", ({ notice }) => notice),
    notice_linked_by: optional(({ notice, links }) => notice && links.decisionOf(notice)?.by),
    notice_event_id: optional(({ notice }) => notice?.id),
    legal_bases: text((decision) => JSON.stringify(decisionLaws(decision))),
    ...times("explanation", ({ explanations }) => explanations[0]),
    ...times("review_triggered", ({ reviews }) => reviews.find(isTriggered)?.triggered),
    ...times("review_completed", ({ reviews }) => reviews.findLast(isCompleted)?.completed),
    ...times("reversed", ({ reversals }) => reversals[0]),
    objections: integer(({ objections }) => objections.length),
    obligations_open: integer(({ open }) => open.length),
    obligations_late: integer(({ obligations }) => obligations.filter(isLate).length),
    open_due_at: optional(({ open }) => firstDueOf(open)),
    // The steps that are not in the log, each with the time at which it falls due; null where it is missing at once.
    steps: text((decision) => JSON.stringify(stepsOf(decision))),
  },
  // Nobody looks up a decision by its id here: it is found by the names of its case. So the key is in the order of the list, in which nearly all of them arrive.
  primaryKey: ["tenant", "at", "decision_id"],
  indexes: [
    ["tenant", "outcome", "at", "decision_id"],
    ["tenant", "asset_id", "at", "decision_id", "outcome"],
    // Mostly a person has few decisions, but SDKs that hash an empty text give one person very many.
    ["tenant", "subject_hash", "at", "decision_id", "asset_id", "outcome"],
  ],
});

export const DECISIONS = decisionsRegister.table;

/**
 * The legal bases with which a decision is shown and counted: its own, and those of the events that belong to it. Where there are too many, those that this
 * program knows stay, and of the others the first by name: so the limit does not depend on the order of arrival.
 */
export const decisionLaws = ({ bases }: Decision): readonly string[] => {
  if (bases.length <= KEPT_LEGAL_BASES_MAX) return bases;
  const ordered = bases.toSorted();
  const unknown = ordered.filter((law) => !isRegistered(law));
  return [...ordered.filter(isRegistered), ...unknown].slice(0, KEPT_LEGAL_BASES_MAX);
};

const isOpen = ({ status }: Obligation): boolean => status === "open";
const isWaived = ({ status }: Obligation): boolean => status === "waived";
const isLate = ({ status }: Obligation): boolean => status === "met_late" || status === "breached";
const isReceived = ({ received }: Objection): boolean => received !== undefined;
const isResolved = ({ resolved }: Objection): boolean => resolved !== undefined;
const isTriggered = ({ triggered }: Review): boolean => triggered !== undefined;
const isCompleted = ({ completed }: Review): boolean => completed !== undefined;

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

const NO_LIMIT = "";

const stepsOf = (entry: Entry): readonly Step[] => {
  const { made, notice, objections, reviews, obligations, open } = entry;
  const firstDue = (those: readonly Obligation[]): string => firstDueOf(those) ?? NO_LIMIT;
  const steps: Step[] = [];
  if (made === undefined) steps.push(["decision", null]);
  else if (!notice && !isNoticeWaived(entry)) steps.push(["notice", null]);
  // Most decisions end here, and this is done for each.
  if (obligations.length + objections.length + reviews.length === 0) return steps;
  const asked = askedIn(obligations.filter((each) => isOpen(each) || isWaived(each)));
  const explained = explainedBy(entry.explanations);
  const unexplained = objections.filter((objection) => {
    if (!lacksExplanation(objection, explained)) return false;
    const limits = asked(objection);
    const explanations = limits.filter(isExplanationDue);
    return !areWaived(explanations.length > 0 ? explanations : limits);
  });
  const explanations = open.filter(isExplanationDue);
  // Where no law limits the explanation itself, with the answer to the objection; at once where that came without one.
  if (explanations.length > 0) steps.push(["explanation", firstDue(explanations)]);
  else if (unexplained.length > 0) {
    const limits = unexplained.flatMap(asked).filter(isOpen);
    steps.push(["explanation", unexplained.every(isResolved) ? null : firstDue(limits)]);
  }
  if (!objections.every(isReceived)) steps.push(["objection", null]);
  const unresolved = objections.filter((objection) => !isResolved(objection) && !areWaived(asked(objection)));
  if (unresolved.length > 0)
    steps.push(["objection_resolution", firstDue(unresolved.flatMap(asked).filter(isOpen))]);
  const closings = obligations.filter(({ rule }) => rule === "HR-CLOSE");
  const waived = new Set<Fact | undefined>(closings.filter(isWaived).map(({ startedBy }) => startedBy));
  if (reviews.some((review) => !isCompleted(review) && !waived.has(review.triggered)))
    steps.push(["human_review", firstDue(closings.filter(isOpen))]);
  if (!reviews.every(isTriggered)) steps.push(["human_review_trigger", null]);
  return steps;
};

const areWaived = (obligations: readonly Obligation[]): boolean =>
  obligations.length > 0 && obligations.every(isWaived);

/** Other laws that ask for a notice are not waived with the clock of one. */
const isNoticeWaived = (entry: Entry): boolean => {
  const clocks = entry.obligations.filter(({ rule }) => rule === "LL144-NOTICE");
  const { deadlines } = entry.rules;
  const unmet = clocks.filter((each) => isOpen(each) || isWaived(each));
  return (
    areWaived(unmet) && decisionLaws(entry).every((law) => clocksOf(deadlines, law, "notice").length > 0)
  );
};

/** The limits for the answer to an objection since it was received last. There may be thousands of both. The acknowledgement is no answer. */
const askedIn = (obligations: readonly Obligation[]) => {
  const byObjection = Map.groupBy(obligations, ({ objectionId }) => objectionId);
  return ({ id, received }: Objection): readonly Obligation[] =>
    (byObjection.get(id) ?? []).filter(
      ({ rule, startedBy }) => rule !== "OBJ-ACK" && (!received || startedBy.at >= received.at),
    );
};

const EXPLANATION_DUE: readonly string[] = ["CIA-EXPL", "CO-ADVERSE", "PIPA-EXPL"];
const isExplanationDue = ({ rule }: Obligation): boolean => EXPLANATION_DUE.includes(rule);

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
      "How many other events the case keeps that say it was made, such as those of another system that uses the same ids. The first counts: what the others say of system, person and outcome is only in the timeline of `/v1/decisions/{decision_id}`.",
    outcome: `At most ${OUTCOME_CHARACTERS_MAX} characters of it, with \`…\` at the end where there are more: the event has all.`,
  },
  words: { notice_linked_by: LINKED_BY },
  derived: {
    missing: {
      schema: Type.Array(Type.String(), {
        description:
          "Steps that are due, or were, and that the log lacks. `notice`: none that a rule links to the decision was shown before it. `explanation`: a law with a limit asks for one, or a person did, who got neither it nor the reason of a denial and did not withdraw the request. A step whose obligation was waived is neither missing nor pending.",
      }),
      of: (row, now) => stepsIn(row, (dueAt) => isDue(dueAt, now)),
    },
    pending: {
      schema: Type.Array(Type.String(), {
        description: "Steps that the log still lacks, and that are not due, or have no limit.",
      }),
      of: (row, now) => stepsIn(row, (dueAt) => !isDue(dueAt, now)),
    },
    late: {
      schema: Type.Boolean({
        description:
          "Whether an obligation of it was met late, is overdue at the time of reading, or can no longer be met.",
      }),
      of: (row, now) =>
        rowInteger(row, "obligations_late") > 0 ||
        (row.open_due_at !== null && isDue(rowText(row, "open_due_at"), now)),
    },
  },
};

const isDue = (dueAt: string | null, now: string): boolean =>
  dueAt === null || (dueAt !== NO_LIMIT && isOverdue(dueAt, now));

const stepsIn = (row: Row, isAsked: (dueAt: string | null) => boolean): readonly string[] => {
  const steps: readonly Step[] = JSON.parse(rowText(row, "steps"));
  return steps.flatMap(([name, dueAt]) => (isAsked(dueAt) ? [name] : []));
};
