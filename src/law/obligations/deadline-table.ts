/**
 * The clocks that events start, as data: what must be done, within which time, and where the law says so. Check an article before citing it; if a row
 * is wrong, correct the row. clocks.ts decides what starts and stops each clock.
 */

/** The date on which a row, or what starts and stops a clock, was last changed. Raise it with each change; a test checks that. */
export const DEADLINES_VERSION = "2026-11-29";

export interface Limit {
  readonly count: number;
  /** A limit of 0 `days` ends with the day on which it begins. */
  readonly unit: "days" | "business_days" | "months";
}

interface Rule {
  readonly duty: string;
  readonly clause: string;
  /** The legal basis under which it is shown; `policy` for a rule of the operator. */
  readonly law: string;
  /** Names in `legal_bases` under which it applies; a name that ends in * matches all names with that beginning. Empty: it applies to everybody. */
  readonly bases: readonly string[];
  /**
   * Whether it also applies if the event that began it names no other law of this table: showing a clock that is not needed does less harm than
   * missing one. Names in other events of the case, such as a label of one law, take no duty away.
   */
  readonly withoutBasis: boolean;
  readonly limit: Limit;
  /** The authority's time zone. */
  readonly zone: string;
  /** How often the limit may be extended if the reasons are stated, and by how much at most each time. */
  readonly extension?: { readonly times: number; readonly limit: Limit };
  /** The date from which the law applies; what began before starts no clock. */
  readonly appliesFrom?: string;
}

const days = (count: number): Limit => ({ count, unit: "days" });
const businessDays = (count: number): Limit => ({ count, unit: "business_days" });
const months = (count: number): Limit => ({ count, unit: "months" });

const SEOUL = "Asia/Seoul";
/** The authority of a Member State decides. All but the westernmost states have Brussels time or are ahead of it. */
const BRUSSELS = "Europe/Brussels";

const PIPA = {
  law: "pipa_37_2_kr",
  bases: ["pipa_37_2_kr"],
  withoutBasis: true,
  limit: days(30),
  zone: SEOUL,
  extension: { times: 2, limit: days(30) },
  appliesFrom: "2024-03-15",
} as const;

const EU_INCIDENT = {
  law: "eu_ai_act_art_73",
  bases: ["eu_ai_act_*"],
  withoutBasis: true,
  zone: BRUSSELS,
  appliesFrom: "2026-08-02",
} as const;

const POLICY = {
  law: "policy",
  clause: "Policy of the operator",
  bases: [],
  withoutBasis: true,
  zone: "UTC",
} as const;

const ROWS = [
  {
    ...PIPA,
    id: "PIPA-EXPL",
    duty: "Explain the decision, or say why not",
    clause: "PIPA Enforcement Decree art. 44-3(2), (5)",
  },
  {
    ...PIPA,
    id: "PIPA-REFUSE",
    duty: "Undo the decision or have a person decide again, and tell the result",
    clause: "PIPA Enforcement Decree art. 44-3(1), (5)",
  },
  {
    ...PIPA,
    id: "PIPA-REVIEW",
    duty: "Look at what the person brought forward, and tell the result",
    clause: "PIPA Enforcement Decree art. 44-3(3), (5)",
  },
  {
    id: "PIPA-DENY",
    duty: "Tell the reason of a denial without delay",
    clause: "PIPA Enforcement Decree art. 44-3(4)",
    law: "pipa_37_2_kr",
    bases: ["pipa_37_2_kr"],
    withoutBasis: true,
    limit: days(0),
    zone: SEOUL,
    appliesFrom: "2024-03-15",
  },
  {
    id: "CIA-EXPL",
    duty: "Explain the automated evaluation",
    clause: "Credit Information Act art. 36-2; the days are policy of the operator, the law names none",
    law: "credit_info_36_2_kr",
    bases: ["credit_info_36_2_kr"],
    withoutBasis: false,
    limit: days(30),
    zone: SEOUL,
    appliesFrom: "2020-08-05",
  },
  {
    id: "GDPR-12-3",
    duty: "Answer the request",
    clause: "GDPR art. 12(3)",
    law: "gdpr_art_22",
    bases: ["gdpr_art_22"],
    withoutBasis: false,
    limit: months(1),
    zone: BRUSSELS,
    extension: { times: 1, limit: months(2) },
    appliesFrom: "2018-05-25",
  },
  {
    id: "CO-ADVERSE",
    duty: "Explain an adverse outcome in plain language",
    clause: "Colorado SB 26-189",
    law: "colorado_sb26_189",
    bases: ["colorado_sb26_189"],
    withoutBasis: false,
    limit: days(30),
    zone: "America/Denver",
    appliesFrom: "2027-01-01",
  },
  {
    id: "LL144-NOTICE",
    duty: "Give notice at least 10 business days before the tool is used",
    clause: "NYC Administrative Code § 20-871(b) (Local Law 144)",
    law: "nyc_ll144",
    bases: ["nyc_ll144"],
    withoutBasis: false,
    limit: businessDays(10),
    zone: "America/New_York",
    appliesFrom: "2023-07-05",
  },
  {
    ...EU_INCIDENT,
    id: "EU73-GEN",
    duty: "Report the serious incident",
    clause: "EU AI Act art. 73(2)",
    limit: days(15),
  },
  {
    ...EU_INCIDENT,
    id: "EU73-DEATH",
    duty: "Report the death of a person",
    clause: "EU AI Act art. 73(4)",
    limit: days(10),
  },
  {
    ...EU_INCIDENT,
    id: "EU73-CRIT",
    duty: "Report the widespread infringement or the disruption of critical infrastructure",
    clause: "EU AI Act art. 73(3)",
    limit: days(2),
  },
  {
    ...EU_INCIDENT,
    id: "EU26-5",
    duty: "Inform the provider immediately",
    clause: "EU AI Act art. 26(5)",
    law: "eu_ai_act_art_26",
    // For deployers of high-risk systems: Regulation (EU) 2026/1744.
    appliesFrom: "2027-12-02",
    limit: days(0),
  },
  { ...POLICY, id: "HR-CLOSE", duty: "Complete the human review", limit: days(10) },
  { ...POLICY, id: "OBJ-ACK", duty: "Acknowledge the objection", limit: businessDays(3) },
] as const satisfies readonly (Rule & { readonly id: string })[];

export type DeadlineId = (typeof ROWS)[number]["id"];

export interface Deadline extends Rule {
  readonly id: DeadlineId;
}

export const DEADLINES: readonly Deadline[] = ROWS;
export const DEADLINE_IDS: readonly DeadlineId[] = ROWS.map(({ id }) => id);

export const DEADLINE_LAWS: readonly string[] = [...new Set(DEADLINES.map(({ law }) => law))];

export const deadlineOf = (deadlines: readonly Deadline[], id: string): Deadline | undefined =>
  deadlines.find((deadline) => deadline.id === id);

/** The names in the table, with or without a star, that these legal bases match. */
export type NamedBases = readonly string[];

export const appliesTo = (
  { bases, withoutBasis }: Pick<Deadline, "bases" | "withoutBasis">,
  named: NamedBases,
  first: readonly string[],
): boolean =>
  bases.length === 0 ||
  bases.some((basis) => named.includes(basis)) ||
  (withoutBasis && namedBases(first).length === 0);

export const isNamedBy = (basis: string): ((name: string) => boolean) => {
  if (!basis.endsWith("*")) return (name) => name === basis;
  const beginning = basis.slice(0, -1);
  return (name) => name.startsWith(beginning);
};

const BASES_WITH_CLOCKS = [...new Set(DEADLINES.flatMap(({ bases }): readonly string[] => bases))].map(
  (basis) => ({ basis, isNamed: isNamedBy(basis) }),
);

/** There are only a few, however many names a case has. */
export const namedBases = (names: readonly string[]): NamedBases =>
  names.length === 0
    ? []
    : BASES_WITH_CLOCKS.filter(({ isNamed }) => names.some(isNamed)).map(({ basis }) => basis);

/** How many bytes of the digest of the rules their version has (overrides.ts). */
export const VERSION_BYTES = 4;

/** How an entry names its rules: the version of the table, and a digest of the operator's changes, if there are any. */
export const rulesetVersion = ({ version }: { readonly version: number }): string =>
  version === 0
    ? DEADLINES_VERSION
    : `${DEADLINES_VERSION}+${version.toString(16).padStart(2 * VERSION_BYTES, "0")}`;

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
