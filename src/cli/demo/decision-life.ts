/** Decisions as they mostly go: notice, decision, explanation, objection, review. Some steps are late, some are missing. */
import { REVIEWERS, SYSTEMS, type System } from "./bank.ts";
import {
  customer,
  DAY_MS,
  HISTORY_DAYS,
  HOUR_MS,
  type Journal,
  type Members,
  MINUTE_MS,
  sha256,
} from "./journal.ts";

export interface Decided {
  readonly system: System;
  readonly id: string;
  readonly correlation: string;
  readonly subject: string;
  readonly at: number;
}

export const liveDecisions = (journal: Journal): void => {
  for (const system of SYSTEMS)
    for (let number = 1; number <= system.decisions; number++) liveDecision(journal, system, number);
};

/** Candidates and customers are different people. The person with a story of their own is neither. */
const PERSONS = 260;
const FIRST_PERSON = 100;

const liveDecision = (journal: Journal, system: System, number: number): void => {
  const { chance } = journal;
  const name = `${system.short}-${String(number).padStart(4, "0")}`;
  const decided: Decided = {
    system,
    id: `dec-${name}`,
    correlation: `case-${name}`,
    subject: sha256(customer(FIRST_PERSON + chance.below(PERSONS))),
    at: workTime(journal, system, ((number - chance.next()) / system.decisions) * daysOf(system)),
  };
  showNotice(journal, decided);
  const isAdverse = chance.is(system.adverse);
  decide(journal, decided, isAdverse ? system.adverseOutcome : "approved");
  if (isAdverse) followUp(journal, decided);
};

/** A notice of the hiring tool comes weeks before its decision, and none is older than the log. */
const daysOf = ({ short }: System): number => (short === "hny" ? 60 : HISTORY_DAYS - 1);

/** Most of what happens on a weekend waits for Monday. */
const workTime = (
  { chance, daysAgo }: Journal,
  { hours: [first, last], short }: System,
  day: number,
): number => {
  const midnight = daysAgo(Math.floor(day) + 1);
  const weekday = new Date(midnight).getUTCDay();
  const shift = { 0: 1, 6: 2 }[weekday] ?? 0;
  const waits = short === "pfs" || chance.is(0.1) ? 0 : shift;
  const time = first * HOUR_MS + chance.below((last - first) * HOUR_MS);
  // The last weekend has no Monday yet.
  return midnight + (Math.floor(day) < waits ? -waits : waits) * DAY_MS + time;
};

export const about = (
  { id, correlation, subject, system }: Decided,
  metadata: Members["metadata"] = {},
): Members => ({
  correlation_id: correlation,
  subject_hash: subject,
  legal_bases: [...system.legalBases],
  risk_tier: system.riskTier,
  metadata: { decision_id: id, ...metadata },
});

export const notice = (journal: Journal, decided: Decided, at: number): void => {
  const { system } = decided;
  journal.say(
    "transparency.notice_shown",
    system,
    at,
    about(decided, { channel: "web", locale: system.language, policy_version: "2026-06" }),
  );
};

const showNotice = (journal: Journal, decided: Decided): void => {
  const { chance } = journal;
  const { system, subject, at } = decided;
  const kind = chance.next();
  // New York: at least 10 business days, which 16 days hold.
  const before =
    system.short === "hny" ? (16 + chance.below(8)) * DAY_MS : (2 + chance.below(40)) * MINUTE_MS;
  if (kind < 0.03) return;
  if (kind < 0.04) notice(journal, decided, at + 3 * HOUR_MS);
  // Older client libraries name only the person.
  else if (kind < 0.12 && system.short !== "hny")
    journal.say("transparency.notice_shown", system, at - before, {
      subject_hash: subject,
      metadata: { channel: "app", locale: system.language },
    });
  else notice(journal, decided, at - before);
};

export const decide = (journal: Journal, decided: Decided, outcome: string): void => {
  const { chance } = journal;
  const { system, id, at } = decided;
  const reason = chance.one(system.reasons);
  journal.say("decision.automated_decision_made", system, at, {
    ...about(decided, {
      outcome,
      ...(outcome === "approved" ? {} : { reason }),
      model: system.model,
      model_version: system.version,
      duration_ms: 20 + chance.below(400),
    }),
    asset_version: system.version,
    context_hash: sha256(`context of ${id}`),
    outcome_hash: sha256(`outcome of ${id}`),
  });
};

export const explain = (journal: Journal, decided: Decided, at: number): void =>
  journal.say(
    "decision.explanation_provided",
    decided.system,
    at,
    about(decided, { delivery_method: "email" }),
  );

const followUp = (journal: Journal, decided: Decided): void => {
  const { chance } = journal;
  const { at } = decided;
  const isExplained = chance.is(0.8);
  const explainedAt = at + (0.2 + 4 * chance.next()) * DAY_MS;
  if (isExplained) explain(journal, decided, explainedAt);
  if (chance.is(0.38)) liveObjection(journal, decided);
  else if (chance.is(0.2)) review(journal, decided, at + 2 * HOUR_MS, "sampling");
};

const review = (journal: Journal, decided: Decided, at: number, trigger: string): void => {
  const { chance, say } = journal;
  const { system } = decided;
  const reviewer = chance.one(REVIEWERS);
  const completedAt = at + (0.5 + 8 * chance.next()) * DAY_MS + (chance.is(0.1) ? 6 * DAY_MS : 0);
  const isReversed = chance.is(0.2);
  const isCompleted = chance.is(0.94);
  say("decision.human_review_triggered", system, at, about(decided, { triggered_by: trigger }));
  if (!isCompleted) return;
  say(
    "decision.human_review_completed",
    system,
    completedAt,
    about(decided, { reviewer_id: reviewer, final_outcome: isReversed ? "approved" : "upheld" }),
  );
  if (isReversed)
    say(
      "decision.decision_reversed",
      system,
      completedAt + HOUR_MS,
      about(decided, { reason: "The review found an error in the data", reviewer_id: reviewer }),
    );
};

const TYPES = ["explanation_request", "automated_decision_refusal", "appeal"] as const;

const liveObjection = (journal: Journal, decided: Decided): void => {
  const { chance, say } = journal;
  const { system, id } = decided;
  const objection_id = id.replace("dec-", "obj-");
  const receivedAt = decided.at + (1 + 6 * chance.next()) * DAY_MS;
  const type = chance.one(TYPES);
  const days = chance.is(0.9) ? 4 + 22 * chance.next() : 33 + 9 * chance.next();
  const kind = chance.next();
  const ofObjection = (metadata: Members["metadata"] = {}): Members =>
    about(decided, { objection_id, ...metadata });
  say("objection.received", system, receivedAt, ofObjection({ objection_type: type }));
  if (chance.is(0.95))
    say("objection.acknowledged", system, receivedAt + (0.1 + 1.6 * chance.next()) * DAY_MS, ofObjection());
  if (kind < 0.06)
    say(
      "objection.acknowledged",
      system,
      receivedAt + 20 * DAY_MS,
      ofObjection({ extension_days: 30, reason: "Documents of the employer are still missing" }),
    );
  if (type !== "explanation_request")
    review(journal, decided, receivedAt + DAY_MS, type === "appeal" ? "appeal" : "user_refusal");
  else explain(journal, decided, receivedAt + days * DAY_MS - HOUR_MS);
  if (kind > 0.93)
    say("objection.escalated", system, receivedAt + 6 * DAY_MS, ofObjection({ reason: "Second objection" }));
  const resolvedAt = receivedAt + days * DAY_MS;
  const resolution = chance.one(["upheld", "partial", "denied", "denied"]);
  const reason = resolution === "denied" ? { reason: chance.one(system.reasons) } : {};
  // Answers by letter are entered in the office, some days later.
  const recordedAt = chance.is(0.08) ? resolvedAt + 3 * DAY_MS : undefined;
  const by = recordedAt === undefined ? {} : { recorded_by: "Complaints office" };
  say("objection.resolved", system, resolvedAt, ofObjection({ resolution, ...reason, ...by }), recordedAt);
};
