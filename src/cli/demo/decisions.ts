/** Decisions as they mostly go: notice, decision, explanation, objection, review. Some steps are late, some are missing. */
import { CREDIT_KR, HIRING, SYSTEMS, type System } from "./bank.ts";
import { DAY_MS, HISTORY_DAYS, HOUR_MS, type Journal, type Metadata, MINUTE_MS, sha256 } from "./journal.ts";

export interface Decided {
  readonly system: System;
  readonly id: string;
  readonly correlation: string;
  readonly person: string;
  readonly at: number;
}

export const caseOf = ({ say, chance }: Journal, { system, id, correlation, person, at }: Decided) => {
  const members = {
    correlation_id: correlation,
    subject_hash: sha256(person),
    legal_bases: [...system.legalBases],
    risk_tier: system.riskTier,
  };
  const tell = (type: string, time: number, metadata: Metadata = {}, recordedAt?: number): void =>
    say(type, system, time, { ...members, metadata: { decision_id: id, ...metadata } }, recordedAt);
  return {
    members,
    tell,
    notice: (time: number): void => {
      const locale = system === CREDIT_KR ? "ko" : "en";
      tell("transparency.notice_shown", time, { channel: "web", locale, policy_version: "2026-06" });
    },
    decide: (outcome: string): void => {
      const { model, version } = system;
      const reason = outcome === "approved" ? {} : { reason: chance.one(system.reasons) };
      const duration_ms = 20 + chance.below(400);
      say("decision.automated_decision_made", system, at, {
        ...members,
        context_hash: sha256(`context of ${id}`),
        outcome_hash: sha256(`outcome of ${id}`),
        asset_version: version,
        metadata: { decision_id: id, outcome, ...reason, model, model_version: version, duration_ms },
      });
    },
    explain: (time: number): void =>
      tell("decision.explanation_provided", time, { delivery_method: "email" }),
    objection: (step: string, time: number, metadata: Metadata = {}, recordedAt?: number): void =>
      tell(`objection.${step}`, time, { objection_id: id.replace("dec-", "obj-"), ...metadata }, recordedAt),
  };
};

type Case = ReturnType<typeof caseOf>;

export const tellDecisions = (journal: Journal): void => {
  for (const system of SYSTEMS)
    for (let number = 1; number <= system.decisions; number++) tellDecision(journal, system, number);
};

const tellDecision = (journal: Journal, system: System, number: number): void => {
  const { chance, daysAgo } = journal;
  const name = `${system.id}-${number}`;
  // A notice of the hiring tool comes weeks before its decision, and none is older than the log.
  const days = system === HIRING ? 60 : HISTORY_DAYS - 1;
  const day = 1 + Math.floor(((number - chance.next()) / system.decisions) * days);
  const [first, last] = system.hours;
  const at = daysAgo(day) + first * HOUR_MS + chance.below((last - first) * HOUR_MS);
  const person = `customer-0${100 + chance.below(260)}`;
  const story = caseOf(journal, { system, id: `dec-${name}`, correlation: `case-${name}`, person, at });
  // New York: at least 10 business days, which 16 days hold.
  const before = system === HIRING ? (16 + chance.below(8)) * DAY_MS : (2 + chance.below(40)) * MINUTE_MS;
  const notice = chance.next();
  if (notice >= 0.03) story.notice(notice < 0.04 ? at + 3 * HOUR_MS : at - before);
  const isAdverse = chance.is(system.adverse.share);
  story.decide(isAdverse ? system.adverse.outcome : "approved");
  if (!isAdverse) return;
  if (chance.is(0.8)) story.explain(at + (0.2 + 4 * chance.next()) * DAY_MS);
  if (chance.is(0.4)) tellObjection(journal, system, story, at);
  else if (chance.is(0.2)) review(journal, story, at + 2 * HOUR_MS, "sampling");
};

const review = ({ chance }: Journal, { tell }: Case, at: number, trigger: string): void => {
  const reviewer_id = chance.one(["r.madsen", "kim.hj", "a.berg", "t.okafor"]);
  const completedAt = at + (0.5 + 8 * chance.next()) * DAY_MS + (chance.is(0.1) ? 6 * DAY_MS : 0);
  tell("decision.human_review_triggered", at, { triggered_by: trigger });
  if (chance.is(0.06)) return;
  const isReversed = chance.is(0.2);
  const final_outcome = isReversed ? "approved" : "upheld";
  tell("decision.human_review_completed", completedAt, { reviewer_id, final_outcome });
  const reason = "The review found an error in the data";
  if (isReversed) tell("decision.decision_reversed", completedAt + HOUR_MS, { reason, reviewer_id });
};

const tellObjection = (journal: Journal, system: System, story: Case, at: number): void => {
  const { chance } = journal;
  const { objection, explain } = story;
  const receivedAt = at + (1 + 6 * chance.next()) * DAY_MS;
  const type = chance.one(["explanation_request", "automated_decision_refusal", "appeal"]);
  const resolvedAt = receivedAt + DAY_MS * (chance.is(0.9) ? 4 + 22 * chance.next() : 33 + 9 * chance.next());
  objection("received", receivedAt, { objection_type: type });
  if (chance.is(0.95)) objection("acknowledged", receivedAt + (0.1 + 1.6 * chance.next()) * DAY_MS);
  if (type === "explanation_request") explain(resolvedAt - HOUR_MS);
  else review(journal, story, receivedAt + DAY_MS, type === "appeal" ? "appeal" : "user_refusal");
  if (chance.is(0.07)) objection("escalated", receivedAt + 6 * DAY_MS, { reason: "Second objection" });
  const resolution = chance.one(["upheld", "partial", "denied", "denied"]);
  const reason = resolution === "denied" ? { reason: chance.one(system.reasons) } : {};
  objection("resolved", resolvedAt, { resolution, ...reason });
};
