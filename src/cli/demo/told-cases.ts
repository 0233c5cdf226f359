/** The cases that an auditor should find, whatever day it is: overdue, due this week, breached, waived, recorded late, unlinked. */
import { CREDIT_EU, CREDIT_KR, FRAUD, HIRING, type System } from "./bank.ts";
import { caseOf } from "./decisions.ts";
import { DAY_MS, HOUR_MS, type Journal, KNOWN_PERSON, MINUTE_MS, sha256 } from "./journal.ts";

export const WAIVED_OBJECTION = "obj-waived";
export const WAIVER_REASON =
  "The customer told the branch in person that no answer is wanted any more, and signed that.";

interface Given {
  readonly person?: string;
  readonly correlation?: string;
  readonly outcome?: string;
  /** How long before the decision; undefined for none. */
  readonly noticeMs?: number | undefined;
  readonly objected?: readonly [days: number, type: string];
}

export const tellCases = (journal: Journal): void => {
  const { daysAgo, say } = journal;
  /** A decision so many days ago, with its notice; then an objection so many days ago, if there is one. */
  const tell = (system: System, name: string, days: number, given: Given) => {
    const all = {
      noticeMs: 5 * MINUTE_MS,
      person: `person of ${name}`,
      correlation: `case-${name}`,
      ...given,
    };
    const { person, correlation, noticeMs, objected, outcome = system.adverse.outcome } = all;
    const at = daysAgo(days) + system.hours[0] * HOUR_MS;
    const story = caseOf(journal, { system, id: `dec-${name}`, correlation, person, at });
    if (noticeMs !== undefined) story.notice(at - noticeMs);
    story.decide(outcome);
    if (!objected) return story;
    const receivedAt = daysAgo(objected[0]) + 10 * HOUR_MS;
    story.objection("received", receivedAt, { objection_type: objected[1] });
    story.objection("acknowledged", receivedAt + DAY_MS);
    return story;
  };

  // Under PIPA 30 days: 38 have passed, or 26.
  tell(CREDIT_KR, "overdue", 41, { objected: [38, "explanation_request"] });
  tell(CREDIT_KR, "due-soon", 30, { objected: [26, "automated_decision_refusal"] });
  // The GDPR allows one month, and two more after the person has been given the reasons (art. 12(3)).
  tell(CREDIT_EU, "waived", 50, { objected: [45, "appeal"] });
  const extended = tell(CREDIT_EU, "extended", 37, { objected: [34, "appeal"] });
  const reason = "The employer has not confirmed the income yet";
  extended.objection("acknowledged", daysAgo(12), { extension_days: 60, reason });
  tell(HIRING, "breached", 12, { noticeMs: 3 * DAY_MS });

  // Answered in time, as the office says: it entered the letter four weeks later.
  const late = tell(CREDIT_EU, "recorded-late", 66, { objected: [60, "appeal"] });
  const answer = { resolution: "upheld", recorded_by: "Complaints office" };
  late.objection("resolved", daysAgo(40), answer, daysAgo(12));

  // One call about two decisions: the explanation names neither. And a complaint that names nothing.
  const call = { correlation: "call-2231", person: "the caller" };
  const { members } = tell(CREDIT_EU, "call-a", 21, call);
  tell(CREDIT_EU, "call-b", 20.9, call);
  say("decision.explanation_provided", CREDIT_EU, daysAgo(18), members);
  say("objection.received", FRAUD, daysAgo(6), {
    subject_hash: sha256(call.person),
    legal_bases: [...FRAUD.legalBases],
    metadata: { objection_type: "appeal" },
  });

  // Decisions about one person within a month: one without a notice, one objection answered in time, one still open.
  const person = KNOWN_PERSON;
  tell(CREDIT_EU, "known-credit", 29, { person, objected: [27, "appeal"] });
  const objected = [19, "explanation_request"] as const;
  const flagged = tell(FRAUD, "known-payment", 20, { person, noticeMs: undefined, objected });
  flagged.explain(daysAgo(15));
  flagged.objection("resolved", daysAgo(14), { resolution: "upheld" });
  tell(CREDIT_EU, "known-again", 9, { person, outcome: "approved" });
};
