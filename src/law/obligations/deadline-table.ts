/**
 * The clocks that events start, as data: what must be done, within which time, and where the law says so. Check an article before citing it; if a row
 * is wrong, correct the row. clocks.ts decides what starts and stops each clock.
 */
import type { Limit } from "./calendar.ts";

/** The date on which a row, or what starts and stops a clock, was last changed. Raise it with each change; a test checks that. */
export const DEADLINES_VERSION = "2026-11-29";

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
