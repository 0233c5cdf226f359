/** The names of the duties in coverage, and where the law requires each. Not legal advice: check an article before citing it. */
import { type Deadline, type DeadlineId, deadlineOf } from "./deadline-table.ts";

/** The law of duties that apply to everybody, under whatever legal basis. */
export const ANY_LAW = "any";

/** Several clocks may count as one duty: which of them runs for an objection, say, depends on its type. */
const DUTIES: Readonly<Record<DeadlineId, string>> = {
  "PIPA-EXPL": "explanation",
  "CIA-EXPL": "explanation",
  "CO-ADVERSE": "explanation",
  "PIPA-REFUSE": "objection",
  "PIPA-REVIEW": "objection",
  "GDPR-12-3": "objection",
  "PIPA-DENY": "denial_reason",
  "LL144-NOTICE": "notice",
  "EU73-GEN": "incident_report",
  "EU73-DEATH": "incident_report",
  "EU73-CRIT": "incident_report",
  "EU26-5": "provider_informed",
  "HR-CLOSE": "human_review",
  "OBJ-ACK": "objection_acknowledgement",
};

const POLICY_LAW = "policy";

/** The law and the duty under which a clock is counted. A clock that is no longer in the table counts as the operator's own. */
export const dutyOf = (deadlines: readonly Deadline[], id: DeadlineId): { law: string; duty: string } => ({
  law: deadlineOf(deadlines, id)?.law ?? POLICY_LAW,
  duty: DUTIES[id],
});

export const clocksOf = (deadlines: readonly Deadline[], law: string, duty: string): readonly Deadline[] =>
  deadlines.filter((deadline) => deadline.law === law && DUTIES[deadline.id] === duty);

/** Duties without a clock: DOMAIN 3.4, and the clauses of the table of obligations (CLASSIFICATION 1.4). */
const CLAUSES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  notice: {
    [ANY_LAW]: "AI Basic Act art. 31(1); EU AI Act art. 26(11), 50(1)",
    ai_basic_law_kr: "AI Basic Act art. 31(1), Enforcement Decree art. 23(1)",
    colorado_sb26_189: "Colorado SB 26-189",
    eu_ai_act_art_26: "EU AI Act art. 26(11)",
    eu_ai_act_art_50: "EU AI Act art. 50(1), (3), (5)",
    nyc_ll144: "NYC Administrative Code § 20-871(b) (Local Law 144)",
  },
  labeling: { [ANY_LAW]: "AI Basic Act art. 31(2), (3); EU AI Act art. 50(2), (4)" },
  lifecycle: { [ANY_LAW]: "EU AI Act art. 49" },
  bias_audit: { nyc_ll144: "NYC Administrative Code § 20-871(a) (Local Law 144)" },
};

/** Null if this program knows no article, as for an unknown legal basis. */
export const clauseOf = (deadlines: readonly Deadline[], law: string, duty: string): string | null => {
  const clauses = new Set(clocksOf(deadlines, law, duty).map(({ clause }) => clause));
  if (clauses.size > 0) return [...clauses].join("; ");
  const known = CLAUSES[duty];
  // A legal basis may have any name, even that of a member that every object has.
  return known && Object.hasOwn(known, law) ? (known[law] ?? null) : null;
};

export interface UncountedDuty {
  readonly law: string;
  readonly duty: string;
  readonly clause: string;
  readonly why: string;
}

const POLICY_DISCLOSURE = {
  duty: "policy_disclosure",
  why: "transparency.policy_disclosed events record that a policy was disclosed. No event says which systems need one, or which of their versions it covers.",
};
const IMPACT_ASSESSMENT = {
  duty: "impact_assessment",
  why: "The register of assessments has those that were made. No event says which systems need one, or which of their changes are substantial.",
};
const RISK_REVIEW = {
  duty: "risk_review",
  why: "The register of risk changes has each change of a classification. A review that changes nothing leaves no event, and none says when one was due.",
};

/**
 * The duties with a limit in DOMAIN 3.2 and those with events of their own in CLASSIFICATION 1.4 that no log can show. They are listed, because a
 * table without them would look complete.
 */
export const CANNOT_SHOW: readonly UncountedDuty[] = [
  {
    law: "nyc_ll144",
    duty: "information_request",
    clause: "NYC Administrative Code § 20-871(b)(3) (Local Law 144): within 30 days of a written request",
    why: "No event type covers a written request for the data that is collected, its source and its retention, or the answer.",
  },
  {
    law: "ai_basic_law_kr",
    duty: "high_impact_confirmation",
    clause: "AI Basic Act Enforcement Decree art. 25(3), (4)",
    why: "No event type covers a request to the Ministry of Science and ICT to confirm whether a system is high-impact, or its reply.",
  },
  {
    ...POLICY_DISCLOSURE,
    law: "ai_basic_law_kr",
    clause: "AI Basic Act Enforcement Decree art. 27(1)",
  },
  { ...POLICY_DISCLOSURE, law: "pipa_37_2_kr", clause: "PIPA Enforcement Decree art. 44-4" },
  {
    ...POLICY_DISCLOSURE,
    law: "nyc_ll144",
    clause: "NYC Administrative Code § 20-871(a)(2) (Local Law 144): a summary of the bias audit",
  },
  { ...IMPACT_ASSESSMENT, law: "ai_basic_law_kr", clause: "AI Basic Act art. 35(1)" },
  { ...IMPACT_ASSESSMENT, law: "eu_ai_act_art_6", clause: "EU AI Act art. 27" },
  { ...RISK_REVIEW, law: "ai_basic_law_kr", clause: "AI Basic Act art. 33(1)" },
  { ...RISK_REVIEW, law: "eu_ai_act_art_6", clause: "EU AI Act art. 6(4), 9" },
];

export const DUTY_NAMES: readonly string[] = [
  ...new Set([...Object.values(DUTIES), ...Object.keys(CLAUSES), ...CANNOT_SHOW.map(({ duty }) => duty)]),
];
