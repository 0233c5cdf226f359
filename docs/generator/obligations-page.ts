import {
  FLOOR_NAMES,
  GENERAL_FLOOR,
  LEGAL_FLOORS,
  RETENTION_TIERS,
  TIER_AGES,
} from "../../src/access/retention/floors.ts";
import { LAWS } from "../../src/law/classification/vocabulary.ts";
import {
  CANNOT_SHOW,
  clauseOf,
  DEADLINES,
  DEADLINES_VERSION,
  type Deadline,
  type Limit,
} from "../../src/law/obligations/deadline-table.ts";
import { OBLIGATION_STATES } from "../../src/law/obligations/obligation.ts";
import { type KnownLegalBasis, LEGAL_BASES } from "../../src/views/coverage/legal-bases.ts";
import { code, codes, page, prose, table } from "./markdown.ts";
import { STATE_MEANINGS } from "./obligation-sentences.ts";
import { TRIGGERS, type Trigger } from "./rule-triggers.ts";

const limitText = ({ count, unit }: Limit): string =>
  count === 0
    ? "without delay (by the end of the day)"
    : `${count} ${unit.replace("_", " ").replace(/s$/, count === 1 ? "" : "s")}`;

const appliesText = ({ bases, withoutBasis }: Deadline): string => {
  if (bases.length === 0) return "every event, whatever its legal bases";
  return `${codes(bases)}${withoutBasis ? ", or no legal basis that starts an obligation" : ""}`;
};

const triggersText = (triggers: readonly Trigger[]): string =>
  triggers
    .map(({ type, where }) => (where === undefined ? code(type) : `${code(type)} (${where})`))
    .join(", or ");

const ruleBlocks = (rule: Deadline): readonly string[] => [
  `### ${rule.id}`,
  `${prose(rule.duty)}. ${prose(rule.clause)}.`,
  table(
    ["", ""],
    [
      ["started by", triggersText(TRIGGERS[rule.id].startedBy)],
      ["met by", triggersText(TRIGGERS[rule.id].metBy)],
      ["limit", `${limitText(rule.limit)}, in dates of ${rule.zone}`],
      ...(rule.extension
        ? [
            [
              "extension",
              `${rule.extension.times === 1 ? "once" : `${rule.extension.times} times`}, by at most ${limitText(rule.extension.limit)} each`,
            ],
          ]
        : []),
      ["legal bases", appliesText(rule)],
      ...(rule.appliesFrom ? [["applies from", rule.appliesFrom]] : []),
    ],
  ),
];

const matches = (name: string, law: string): boolean =>
  name.endsWith("*") ? law.startsWith(name.slice(0, -1)) : name === law;

const laws: Readonly<Record<string, { readonly appliesFrom: string }>> = LAWS;

const lawRow = ({ name, title, clocks }: KnownLegalBasis): readonly string[] => {
  const floor = FLOOR_NAMES.find((each) => matches(each, name));
  return [
    code(name),
    title,
    laws[name]?.appliesFrom ?? "–",
    clocks.map(({ id }) => `[${id}](#${id.toLowerCase()})`).join(", ") || "–",
    floor ? LEGAL_FLOORS[floor].span : "–",
  ];
};

export const obligationsPage = (): string =>
  page(
    "Obligations and legal bases",
    `An obligation is something that must be done within a limit because of an event. Its **rule** names the law, what starts it, what meets it and how long it takes. These rules are data of the program, version \`${DEADLINES_VERSION}\`. They are not legal advice: read an article before you cite it. [\`OBLIGATION_RULES_FILE\`](settings.md#obligation_rules_file) changes limits, time zones and holidays, or switches a rule off.`,
    "## Legal bases and the obligations they start",
    "Any lower snake case name is accepted in `legal_bases`. These are known; any other is answered with the warning `unknown_legal_basis`:",
    table(
      ["legal basis", "law", "applies from", "rules", "events are kept for at least"],
      LEGAL_BASES.map(lawRow),
    ),
    `Rules with the law \`policy\` (${codes(DEADLINES.filter(({ law }) => law === "policy").map(({ id }) => id))}) apply to everybody.`,
    "## Rules",
    "The first day does not count, and a limit ends with the last second of its last day in the time zone of the authority. `business_days` leave out Saturdays, Sundays and the holidays of `OBLIGATION_RULES_FILE`.",
    ...DEADLINES.flatMap(ruleBlocks),
    "## States",
    table(
      ["state", "means"],
      OBLIGATION_STATES.map((state) => [code(state), meaningOf(state)]),
    ),
    "`recorded_late` is `true` if the log received the event that met an obligation more than `LATE_RECORD_GRACE` after `due_at`, although the event says that it happened in time.",
    "## Messages",
    "When the state of an obligation changes, a message is published on `obligation.<tenant>.<asset>.<rule>.<transition>`. `streams/README.md` in the repository has its fields and the order of transitions.",
    "## Notices and labels, without a limit",
    table(
      ["obligation", "law", "article"],
      LEGAL_BASES.flatMap(({ name: law }) =>
        ["notice", "labeling", "lifecycle", "bias_audit"].flatMap((obligation) => {
          const clause = DEADLINES.some(
            (rule) => rule.law === law && obligation === "notice" && rule.id === "LL144-NOTICE",
          )
            ? null
            : clauseOf(DEADLINES, law, obligation);
          return clause === null ? [] : [[code(obligation), code(law), prose(clause)]];
        }),
      ),
    ),
    "## What no log can show",
    "Coverage lists these in `cannot_show`, with the reason.",
    table(
      ["obligation", "law", "article", "why"],
      CANNOT_SHOW.map(({ duty, law, clause, why }) => [code(duty), code(law), prose(clause), prose(why)]),
    ),
    "## Retention",
    "How long the law requires events to be kept. A tenant's policy cannot go below the general minimum. [Retention](../how-to/retention.md) explains policies and holds.",
    table(
      ["what", "at least", "article"],
      [
        ["every event", `${GENERAL_FLOOR.span} (${GENERAL_FLOOR.days} days)`, prose(GENERAL_FLOOR.clause)],
        ...FLOOR_NAMES.map((name) => {
          const { span, days, clause } = LEGAL_FLOORS[name];
          return [`legal basis ${code(name)}`, `${span} (${days} days)`, prose(clause)];
        }),
        ...RETENTION_TIERS.map((tier) => [
          tier === "unknown" ? "no tier" : `tier ${code(tier)}`,
          TIER_AGES[tier]?.span ?? "not limited",
          "our default, until the policy names the tier",
        ]),
      ],
    ),
  );

const meaningOf = (state: string): string => {
  const meaning = STATE_MEANINGS[state];
  if (meaning === undefined)
    throw new Error(`docs/generator/obligation-sentences.ts lacks the state ${state}`);
  return meaning;
};
