/** Cases and decisions as answers show them, and what stands beside a decision. */

import { eventFacts, readEvent } from "../../event/facts.ts";
import { timeKey } from "../../event/formats.ts";
import { caseOf, type Decision, isShownBefore, type Unlinked, unlinkedIn } from "../../law/cases/case.ts";
import {
  type Fact,
  factOf,
  inOrder,
  isNamelessNotice,
  isNoticeShown,
  type LinkKind,
  recordedTimeOf,
  timeOf,
} from "../../law/cases/fact.ts";
import { isExplanation, isReversal } from "../../law/cases/objection.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { type StoredEvent, searchEvents } from "../events/queries.ts";
import { BESIDE_CASES_MAX, BESIDE_EVENTS_MAX, BESIDE_EVENTS_PER_PAGE } from "../kit/limits.ts";
import { entryOf, type List } from "../kit/list.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import { nodesWith } from "./evolve.ts";
import { EMPTY, nodeName } from "./nodes.ts";
import { caseAround, type FoundCase, findCase } from "./queries.ts";
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

type Views = Pick<ViewStore, "select" | "load">;

/** Events about the same asset and person that no rule links to a decision (DOMAIN 2b), and notices that rule 3 links to it. */
export interface BesideDecision {
  readonly unlinked: readonly Unlinked[];
  /** Notices without a name, shown before the decision, beside the first one, which is among its facts. */
  readonly notices: readonly Fact[];
}

export const findBeside = async (
  views: Views,
  tenant: string,
  parts: {
    readonly found: FoundCase;
    readonly decision: Decision;
    readonly row: Row;
    readonly rules: Rules;
  },
): Promise<BesideDecision> => {
  const { found, decision, row, rules } = parts;
  const { asset_id: assetId, subject_hash: subjectHash } = row;
  const isAlike = ({ asset, subject }: Fact): boolean => asset === assetId && subject === subjectHash;
  const isCandidate = ({ candidates }: Unlinked): boolean =>
    candidates.some(({ kind, id }) => kind === "decision" && id === decision.id);
  const unlinked = unlinkedIn(found.is).filter((each) => isCandidate(each) || isAlike(each.fact));
  const notices: Fact[] = [];
  if (typeof subjectHash === "string") {
    const known = new Set(found.is.facts.map(({ id }) => id));
    const unlinkedOf = unlinkedElsewhere(views, tenant, rules);
    for await (const fact of newestFacts(views, tenant, { assetId: rowText(row, "asset_id"), subjectHash })) {
      if (known.has(fact.id)) continue;
      if (isNamelessNotice(fact) && isShownBefore(fact, decision.made)) notices.push(fact);
      else unlinked.push(...(await unlinkedOf(fact)));
    }
  }
  return { unlinked: unlinked.sort((one, other) => inOrder(one.fact, other.fact)), notices };
};

async function* newestFacts(
  views: Views,
  tenant: string,
  about: { readonly assetId: string; readonly subjectHash: string },
): AsyncGenerator<Fact> {
  const filter = { ...about, timeField: "timestamp", order: "desc", limit: BESIDE_EVENTS_PER_PAGE } as const;
  let cursor: string | undefined;
  for (let seen = 0; seen < BESIDE_EVENTS_MAX; seen += BESIDE_EVENTS_PER_PAGE) {
    const found = await searchEvents(views, tenant, { ...filter, cursor });
    if (found.kind !== "page") return;
    for (const { eventText, sequence, receivedAt } of found.rows) {
      const known = eventFacts(readEvent(eventText));
      if (known) yield factOf(known, sequence, timeKey(receivedAt));
    }
    if (found.nextCursor === null) return;
    cursor = found.nextCursor;
  }
}

const NONE: readonly Unlinked[] = [];

/** An event that names nothing is its own case. Of another one its case tells, each looked at once. */
const unlinkedElsewhere = (views: Views, tenant: string, rules: Rules) => {
  const cases = new Map<string, readonly Unlinked[]>();
  return async (fact: Fact): Promise<readonly Unlinked[]> => {
    const { decision, objection, correlation } = fact.links;
    if (decision !== undefined) return NONE;
    const value = objection ?? correlation;
    if (value === undefined) return unlinkedIn(caseOf([fact]));
    const kind: LinkKind = objection === undefined ? "correlation" : "objection";
    const name = `${kind}:${value}`;
    if (!cases.has(name)) {
      if (cases.size === BESIDE_CASES_MAX) return NONE;
      const found = await findCase(views, tenant, { kind, value, rules });
      cases.set(name, found ? unlinkedIn(found.is) : NONE);
    }
    return cases.get(name)?.filter(({ fact: { id } }) => id === fact.id) ?? NONE;
  };
};

export interface EventsOfCase extends FoundCase {
  readonly texts: ReadonlyMap<string, string>;
}

/** The case of a decision among events that are in no view, for the sandbox. `events` from the first to the last: of those with one event_id the first counts. */
export const caseOfEvents = (
  tenant: string,
  events: readonly Pick<StoredEvent, "sequence" | "receivedAt" | "eventText">[],
  asked: { readonly decision: string; readonly rules: Rules },
): EventsOfCase | undefined => {
  const texts = new Map<string, string>();
  const made: Fact[] = [];
  for (const { sequence, receivedAt, eventText } of events) {
    const facts = eventFacts(readEvent(eventText));
    if (facts === undefined || texts.has(facts.eventId)) continue;
    texts.set(facts.eventId, eventText);
    made.push(factOf(facts, sequence, timeKey(receivedAt)));
  }
  const node = nodesWith(tenant, made);
  const start = nodeName("decision", asked.decision);
  return node(start) === EMPTY
    ? undefined
    : { ...caseAround(tenant, start, { node, rules: asked.rules }), texts };
};
