import { type Unlinked, unlinkedIn } from "../../law/cases/case.ts";
import { isNoticeShown, recordedTimeOf, timeOf } from "../../law/cases/fact.ts";
import { isExplanation, isReversal } from "../../law/cases/objection.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { entryOf, type List } from "../kit/list.ts";
import type { Row } from "../store/tables.ts";
import type { FoundCase } from "./queries.ts";
import { decisionList, decisionsRegister } from "./registers/decisions.ts";
import { humanReviewList, humanReviewsRegister } from "./registers/human-reviews.ts";
import { incidentList, incidentsRegister } from "./registers/incidents.ts";
import { objectionList, objectionsRegister } from "./registers/objections.ts";
import { obligationEntry, obligationsRegister } from "./registers/obligations.ts";
import type { CaseView, Register } from "./registers/register.ts";

const entriesOf = (found: CaseView, register: Register, entry: (row: Row) => unknown) =>
  register.rowsOf(found).map(entry);

const listed = (list: List, now: string) => (row: Row) => entryOf(list, row, now);

/**
 * A case as an answer shows it: what happened in it, and whether anything is unanswered. `at`: the time of the request, as text that sorts by time.
 */
export const caseEntry = (found: FoundCase, rules: Rules, at: string) => {
  const { is, obligations } = found;
  const { decisions, objections, reviews, incidents, facts } = is;
  const isOpen =
    obligations.some(({ status }) => status === "open") ||
    objections.some(({ resolved }) => resolved === undefined) ||
    reviews.some(({ completed }) => completed === undefined) ||
    incidents.some(({ mitigated }) => mitigated === undefined);
  return {
    state: isOpen ? "open" : "closed",
    started_at: timeOrNull(found.firstAt),
    last_at: timeOrNull(found.lastAt),
    asset_ids: [...new Set(facts.map(({ asset }) => asset))],
    events: found.events,
    notice_shown:
      decisions.length > 0 ? decisions.every(({ notices }) => notices.length > 0) : facts.some(isNoticeShown),
    explanation_given: facts.some(isExplanation),
    human_review_triggered: reviews.some(({ triggered }) => triggered !== undefined),
    human_review_completed: reviews.length > 0 && reviews.every(({ completed }) => completed !== undefined),
    objection_received: objections.some(({ received }) => received !== undefined),
    objection_resolved: objections.length > 0 && objections.every(({ resolved }) => resolved !== undefined),
    decision_reversed: facts.some(isReversal),
    decisions: entriesOf(found, decisionsRegister, listed(decisionList, at)),
    objections: entriesOf(found, objectionsRegister, listed(objectionList, at)),
    human_reviews: entriesOf(found, humanReviewsRegister, listed(humanReviewList, at)),
    incidents: entriesOf(found, incidentsRegister, listed(incidentList, at)),
    obligations: entriesOf(found, obligationsRegister, (row) => obligationEntry(row, rules, at)),
    unlinked: unlinkedIn(is).map(unlinkedEntry),
  };
};

const timeOrNull = (at: string | undefined): string | null => (at === undefined ? null : timeOf({ at }));

/** A decision of the case, and its row in the register. */
export const decisionIn = (found: CaseView | undefined, id: string) => {
  const decision = found?.is.decisions.find((each) => each.id === id);
  const row = decision && found && decisionsRegister.rowsOf(found).find((each) => each.decision_id === id);
  return decision && row && { decision, row };
};

/** A decision and everything that belongs to it, as an answer shows it. `row`: its own in the register. */
export const decisionEntry = (parts: {
  found: FoundCase;
  row: Row;
  rules: Rules;
  at: string;
  unlinked: readonly Unlinked[];
}) => {
  const { found, row, rules, at, unlinked } = parts;
  const own = (of: Register) => of.rowsOf(found).filter((each) => each.decision_id === row.decision_id);
  return {
    ...entryOf(decisionList, row, at),
    objections: own(objectionsRegister).map(listed(objectionList, at)),
    human_reviews: own(humanReviewsRegister).map(listed(humanReviewList, at)),
    obligations: own(obligationsRegister).map((each) => obligationEntry(each, rules, at)),
    unlinked: unlinked.map(unlinkedEntry),
  };
};

const unlinkedEntry = ({ fact, candidates }: Unlinked) => ({
  event_id: fact.id,
  event_type: fact.type,
  sequence: fact.sequence,
  at: timeOf(fact),
  recorded_at: recordedTimeOf(fact),
  asset_id: fact.asset,
  subject_hash: fact.subject ?? null,
  candidates,
});
