/** Decisions as they mostly go: notice, decision, explanation, objection, review. Some steps are late, some are missing. */
import { HIRING, REVIEWERS, SYSTEMS, type System } from "./bank.ts";
import {
  customer,
  DAY_MS,
  HISTORY_DAYS,
  HOUR_MS,
  type Journal,
  type Members,
  type Metadata,
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

export const caseOf = ({ say, chance }: Journal, decided: Decided) => {
  const { system, id, correlation, subject, at } = decided;
  const members: Members = {
    correlation_id: correlation,
    subject_hash: subject,
    legal_bases: [...system.legalBases],
    risk_tier: system.riskTier,
  };
  const tell = (type: string, time: number, metadata: Metadata = {}, recordedAt?: number): void =>
    say(type, system, time, { ...members, metadata: { decision_id: id, ...metadata } }, recordedAt);
  return {
    members,
    tell,
    notice: (time: number): void =>
      tell("transparency.notice_shown", time, {
        channel: "web",
        locale: system.language,
        policy_version: "2026-06",
      }),
    decide: (outcome: string): void => {
      const reason = chance.one(system.reasons);
      const metadata = {
        decision_id: id,
        outcome,
        ...(outcome === "approved" ? {} : { reason }),
        model: system.model,
        model_version: system.version,
        duration_ms: 20 + chance.below(400),
      };
      const context_hash = sha256(`context of ${id}`);
      const hashes = { context_hash, outcome_hash: sha256(`outcome of ${id}`) };
      say("decision.automated_decision_made", system, at, {
        ...members,
        ...hashes,
        asset_version: system.version,
        metadata,
      });
    },
    explain: (time: number): void =>
      tell("decision.explanation_provided", time, { delivery_method: "email" }),
    objection: {
      tell: (step: string, time: number, metadata: Metadata = {}, recordedAt?: number): void =>
        tell(
          `objection.${step}`,
          time,
          { objection_id: id.replace("dec-", "obj-"), ...metadata },
          recordedAt,
        ),
    },
  };
};

type Case = ReturnType<typeof caseOf>;

export const tellDecisions = (journal: Journal): void => {
  for (const system of SYSTEMS)
    for (let number = 1; number <= system.decisions; number++) tellDecision(journal, system, number);
};

/** Candidates and customers are different people. The person with a story of their own is neither. */
const PERSONS = 260;
const FIRST_PERSON = 100;

const tellDecision = (journal: Journal, system: System, number: number): void => {
  const { chance, daysAgo } = journal;
  const name = `${system.short}-${String(number).padStart(4, "0")}`;
  // A notice of the hiring tool comes weeks before its decision, and none is older than the log.
  const days = system === HIRING ? 60 : HISTORY_DAYS - 1;
  const day = 1 + Math.floor(((number - chance.next()) / system.decisions) * days);
  const [first, last] = system.hours;
  const at = daysAgo(day) + first * HOUR_MS + chance.below((last - first) * HOUR_MS);
  const subject = sha256(customer(FIRST_PERSON + chance.below(PERSONS)));
  const decided = { system, id: `dec-${name}`, correlation: `case-${name}`, subject, at };
  const story = caseOf(journal, decided);
  showNotice(journal, decided, story);
  const isAdverse = chance.is(system.adverse);
  story.decide(isAdverse ? system.adverseOutcome : "approved");
  if (!isAdverse) return;
  if (chance.is(0.8)) story.explain(at + (0.2 + 4 * chance.next()) * DAY_MS);
  if (chance.is(0.38)) tellObjection(journal, decided, story);
  else if (chance.is(0.2)) review(journal, story, at + 2 * HOUR_MS, "sampling");
};

const showNotice = ({ chance, say }: Journal, { system, subject, at }: Decided, story: Case): void => {
  const kind = chance.next();
  // New York: at least 10 business days, which 16 days hold.
  const before = system === HIRING ? (16 + chance.below(8)) * DAY_MS : (2 + chance.below(40)) * MINUTE_MS;
  if (kind < 0.03) return;
  // Older client libraries name only the person.
  if (kind >= 0.04 && kind < 0.12 && system !== HIRING)
    say("transparency.notice_shown", system, at - before, {
      subject_hash: subject,
      metadata: { channel: "app", locale: system.language },
    });
  else story.notice(kind < 0.04 ? at + 3 * HOUR_MS : at - before);
};

const review = ({ chance }: Journal, { tell }: Case, at: number, trigger: string): void => {
  const reviewer_id = chance.one(REVIEWERS);
  const completedAt = at + (0.5 + 8 * chance.next()) * DAY_MS + (chance.is(0.1) ? 6 * DAY_MS : 0);
  const isReversed = chance.is(0.2);
  tell("decision.human_review_triggered", at, { triggered_by: trigger });
  if (chance.is(0.06)) return;
  const final_outcome = isReversed ? "approved" : "upheld";
  tell("decision.human_review_completed", completedAt, { reviewer_id, final_outcome });
  if (isReversed)
    tell("decision.decision_reversed", completedAt + HOUR_MS, {
      reason: "The review found an error in the data",
      reviewer_id,
    });
};

const tellObjection = (journal: Journal, { at, system }: Decided, story: Case): void => {
  const { chance } = journal;
  const { objection, explain } = story;
  const receivedAt = at + (1 + 6 * chance.next()) * DAY_MS;
  const type = chance.one(["explanation_request", "automated_decision_refusal", "appeal"]);
  const resolvedAt = receivedAt + DAY_MS * (chance.is(0.9) ? 4 + 22 * chance.next() : 33 + 9 * chance.next());
  objection.tell("received", receivedAt, { objection_type: type });
  if (chance.is(0.95)) objection.tell("acknowledged", receivedAt + (0.1 + 1.6 * chance.next()) * DAY_MS);
  if (type === "explanation_request") explain(resolvedAt - HOUR_MS);
  else review(journal, story, receivedAt + DAY_MS, type === "appeal" ? "appeal" : "user_refusal");
  if (chance.is(0.07)) objection.tell("escalated", receivedAt + 6 * DAY_MS, { reason: "Second objection" });
  const resolution = chance.one(["upheld", "partial", "denied", "denied"]);
  const reason = chance.one(system.reasons);
  // Answers by letter are entered in the office, some days later.
  const isLetter = chance.is(0.08);
  objection.tell(
    "resolved",
    resolvedAt,
    {
      resolution,
      ...(resolution === "denied" && { reason }),
      ...(isLetter && { recorded_by: "Complaints office" }),
    },
    isLetter ? resolvedAt + 3 * DAY_MS : undefined,
  );
};
