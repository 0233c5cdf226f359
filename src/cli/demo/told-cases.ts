/** The cases that an auditor should find, whatever day it is: overdue, due this week, breached, waived, recorded late, unlinked. */
import { CREDIT_EU, CREDIT_KR, FRAUD, HIRING, type System } from "./bank.ts";
import { about, type Decided, decide, explain, notice } from "./decision-life.ts";
import { DAY_MS, HOUR_MS, type Journal, KNOWN_PERSON, type Members, MINUTE_MS, sha256 } from "./journal.ts";

/** The objection whose obligation the demo waives. */
export const WAIVED_OBJECTION = "obj-waived";
export const WAIVER_REASON =
  "The customer told the branch in person that no answer is wanted any more, and signed that.";

const case_ = (
  journal: Journal,
  system: System,
  name: string,
  days: number,
  person = `person of ${name}`,
): Decided => ({
  system,
  id: `dec-${name}`,
  correlation: `case-${name}`,
  subject: sha256(person),
  at: journal.daysAgo(days) + system.hours[0] * HOUR_MS,
});

const adverse = (journal: Journal, decided: Decided): void => {
  notice(journal, decided, decided.at - 5 * MINUTE_MS);
  decide(journal, decided, decided.system.adverseOutcome);
};

const object = (journal: Journal, decided: Decided, days: number, type: string): Members => {
  const objection_id = decided.id.replace("dec-", "obj-");
  const at = journal.daysAgo(days) + 10 * HOUR_MS;
  const of = about(decided, { objection_id });
  journal.say(
    "objection.received",
    decided.system,
    at,
    about(decided, { objection_id, objection_type: type }),
  );
  journal.say("objection.acknowledged", decided.system, at + DAY_MS, of);
  return of;
};

export const tellCases = (journal: Journal): void => {
  // Under PIPA 30 days: 38 have passed, or 26.
  const overdue = case_(journal, CREDIT_KR, "overdue", 41);
  adverse(journal, overdue);
  object(journal, overdue, 38, "explanation_request");
  const soon = case_(journal, CREDIT_KR, "due-soon", 30);
  adverse(journal, soon);
  object(journal, soon, 26, "automated_decision_refusal");
  // The GDPR allows one month, and two more after the person has been given the reasons (art. 12(3)).
  const waived = case_(journal, CREDIT_EU, "waived", 50);
  adverse(journal, waived);
  object(journal, waived, 45, "appeal");
  const extended = case_(journal, CREDIT_EU, "extended", 37);
  adverse(journal, extended);
  const { metadata, ...of } = object(journal, extended, 34, "appeal");
  const told = { ...metadata, extension_days: 60, reason: "The employer has not confirmed the income yet" };
  journal.say("objection.acknowledged", CREDIT_EU, journal.daysAgo(12), { ...of, metadata: told });

  const early = case_(journal, HIRING, "breached", 12);
  notice(journal, early, early.at - 3 * DAY_MS);
  decide(journal, early, "rejected");

  tellRecordedLate(journal);
  tellUnlinked(journal);
  tellKnownPerson(journal);
};

/** Answered in time, as the office says: it entered the letter four weeks later. */
const tellRecordedLate = (journal: Journal): void => {
  const decided = case_(journal, CREDIT_EU, "recorded-late", 66);
  adverse(journal, decided);
  const { metadata, ...of } = object(journal, decided, 60, "appeal");
  journal.say(
    "objection.resolved",
    CREDIT_EU,
    journal.daysAgo(40),
    { ...of, metadata: { ...metadata, resolution: "upheld", recorded_by: "Complaints office" } },
    journal.daysAgo(12),
  );
};

/** One call about two decisions: the explanation names neither. And a complaint that names nothing. */
const tellUnlinked = (journal: Journal): void => {
  const first = { ...case_(journal, CREDIT_EU, "call-a", 21), correlation: "call-2231" };
  const second = {
    ...case_(journal, CREDIT_EU, "call-b", 21),
    correlation: "call-2231",
    subject: first.subject,
  };
  adverse(journal, first);
  adverse(journal, { ...second, at: second.at + HOUR_MS });
  const { metadata: _, ...unnamed } = about(first);
  journal.say("decision.explanation_provided", CREDIT_EU, journal.daysAgo(18), unnamed);
  journal.say("objection.received", FRAUD, journal.daysAgo(6), {
    subject_hash: first.subject,
    legal_bases: [...FRAUD.legalBases],
    metadata: { objection_type: "appeal" },
  });
};

/** Three systems' decisions about one person within a month: one without a notice, one objection answered in time, one still open. */
const tellKnownPerson = (journal: Journal): void => {
  const denied = case_(journal, CREDIT_EU, "known-credit", 29, KNOWN_PERSON);
  adverse(journal, denied);
  object(journal, denied, 27, "appeal");
  const flagged = case_(journal, FRAUD, "known-payment", 20, KNOWN_PERSON);
  decide(journal, flagged, "flagged");
  const { metadata, ...of } = object(journal, flagged, 19, "explanation_request");
  explain(journal, flagged, journal.daysAgo(15));
  const resolved = { ...metadata, resolution: "upheld" };
  journal.say("objection.resolved", FRAUD, journal.daysAgo(14), { ...of, metadata: resolved });
  const again = case_(journal, CREDIT_EU, "known-again", 9, KNOWN_PERSON);
  notice(journal, again, again.at - 10 * MINUTE_MS);
  decide(journal, again, "approved");
};
