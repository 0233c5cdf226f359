/** The tables of summary.html. Pure. */
import { DECISION_MADE, type Fact } from "../../law/cases/fact.ts";
import { LABELS, type Label } from "../vocabulary/labels.ts";
import { type Html, html } from "./html.ts";
import type { DecisionStory, Entry, Step } from "./subjects.ts";
import { type ColumnName, SUMMARY_WORDS, type SummaryLanguage } from "./summary-words.ts";

interface Column<Of> {
  readonly name: ColumnName;
  readonly kind?: "number" | "time" | "id" | "name";
  /** Width in per cent of the table. */
  readonly width: number;
  readonly cell: (row: Of, language: SummaryLanguage) => Html;
}

const table = <Of>(language: SummaryLanguage, columns: readonly Column<Of>[], rows: readonly Of[]): Html => {
  const headed = columns.map((column) => ({
    ...column,
    label: SUMMARY_WORDS[language].columns[column.name],
  }));
  return html`<table>
<colgroup>${headed.map(({ width }) => html`<col style="width: ${width}%">`)}</colgroup>
<thead><tr>${headed.map(({ label, kind }) => html`<th class="${kind === "number" ? "number" : ""}" scope="col">${label}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (
    row,
  ) => html`<tr>${headed.map(({ label, kind, cell }) => html`<td class="${kind ?? ""}" data-label="${label}">${cell(row, language)}</td>`)}</tr>
`,
)}</tbody>
</table>`;
};

/** `2026-11-20 10:00:00`, with its fraction if it has one. The page says that times are UTC. */
export const readableTime = (text: unknown): string =>
  typeof text === "string" ? text.replace("T", " ").replace(/(?:\.0+)?Z$/, "") : "";

/** The name that people use, or the name itself where there is none, as of an event type or a law of the operator's own. */
const labelOf = (labels: Readonly<Record<string, Label>>, name: string, language: SummaryLanguage): string =>
  (Object.hasOwn(labels, name) ? labels[name]?.[language] : undefined) ?? name;

/** Allows line breaks behind the parts of a name, before it breaks anywhere. */
const breakable = (text: string): Html =>
  html`${text.split(/(?<=[._/:-])/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))}`;

const plain =
  (name: string) =>
  (row: Entry): Html =>
    row[name] === null || row[name] === undefined ? html`–` : breakable(String(row[name]));

const time =
  (name: string) =>
  (row: Entry): Html =>
    timeCell(readableTime(row[name]));

/** A line may break between date and time, and nowhere else. */
const timeCell = (text: string): Html => {
  const [date = "", ...rest] = text.split(" ");
  return date === "" ? html`–` : html`<span class="whole">${date}</span> ${rest.join(" ")}`;
};

/** In whole seconds, which is what obligations count in. */
const second =
  (name: string) =>
  (row: Entry): Html =>
    timeCell(readableTime(row[name]).slice(0, SECONDS));

const SECONDS = "2026-11-20 10:00:00".length;

/** With the name in the log below it: the files of the bundle have only that one. */
const eventType = ({ event_type }: Entry, language: SummaryLanguage): Html => {
  const type = String(event_type);
  const label = labelOf(LABELS.event_types, type, language);
  return label === type ? breakable(type) : html`${label}<small>${breakable(type)}</small>`;
};

/** Null where no rule links what should belong to something; absent where the page does not know. */
const linkedBy = ({ linked_by }: Entry, language: SummaryLanguage): Html =>
  linked_by === null
    ? html`<strong>${SUMMARY_WORDS[language].unlinked}</strong>`
    : typeof linked_by === "string"
      ? html`${linkText(linked_by, language)}`
      : html`–`;

const linkText = (rule: string, language: SummaryLanguage): string =>
  labelOf(LABELS.linked_by, rule, language);

const TIMELINE: readonly Column<Entry>[] = [
  { name: "time", kind: "time", width: 12, cell: time("timestamp") },
  { name: "received", kind: "time", width: 12, cell: time("received_at") },
  { name: "event", kind: "name", width: 20, cell: eventType },
  { name: "system", kind: "name", width: 13, cell: plain("asset_id") },
  { name: "eventId", kind: "id", width: 15, cell: plain("event_id") },
  { name: "linkedBy", width: 14, cell: linkedBy },
  { name: "sequence", kind: "number", width: 8, cell: plain("sequence") },
  { name: "leaf", kind: "number", width: 6, cell: plain("leaf_index") },
];

export const timelineTable = (rows: readonly Entry[], language: SummaryLanguage): Html =>
  table(language, TIMELINE, rows);

const state = ({ state: name }: Entry, language: SummaryLanguage): Html =>
  html`<span class="state state-${String(name)}">${labelOf(LABELS.obligation_states, String(name), language)}</span>`;

/** With who waived it and why: a waiver is never hidden. */
const obligation = (row: Entry, language: SummaryLanguage): Html => {
  const { waived } = SUMMARY_WORDS[language];
  const rule = String(row.rule);
  const duty = language === "en" ? String(row.duty ?? rule) : labelOf(LABELS.rules, rule, language);
  const waiver =
    typeof row.waived_at === "string"
      ? html`<small>${waived(readableTime(row.waived_at), String(row.waived_by), String(row.waived_reason))}</small>`
      : html``;
  return html`${duty}<small>${rule}</small>${waiver}`;
};

/** The system, and the decision, objection or incident that it is about. */
const about = (row: Entry): Html => {
  const name = [row.decision_id, row.incident_id, row.objection_id].find((each) => typeof each === "string");
  return html`${plain("asset_id")(row)}${name === undefined ? html`` : html`<small>${breakable(String(name))}</small>`}`;
};

/** When the log received the event that met it. */
const recorded = (row: Entry, language: SummaryLanguage): Html =>
  row.recorded_late === true
    ? html`${second("stopped_recorded_at")(row)} <strong>${SUMMARY_WORDS[language].late}</strong>`
    : second("stopped_recorded_at")(row);

const DUTIES: readonly Column<Entry>[] = [
  { name: "state", width: 12, cell: state },
  { name: "due", kind: "time", width: 11, cell: second("due_at") },
  { name: "obligation", width: 18, cell: obligation },
  { name: "clause", width: 15, cell: plain("clause") },
  { name: "system", kind: "name", width: 14, cell: about },
  { name: "since", kind: "time", width: 10, cell: second("started_at") },
  { name: "met", kind: "time", width: 10, cell: second("stopped_at") },
  { name: "recorded", kind: "time", width: 10, cell: recorded },
];

export const dutiesTable = (rows: readonly Entry[], language: SummaryLanguage): Html =>
  table(language, DUTIES, rows);

/** Enough to recognise a person by. */
const SUBJECT_CHARACTERS = "sha256:0123456789ab".length;

const decision = (row: DecisionStory): Html => {
  const subject = row.subject_hash;
  return html`<span class="id">${breakable(row.decision_id)}</span><small>${plain("asset_id")(row)}</small>${
    typeof subject === "string"
      ? html`<small class="id">${subject.slice(0, SUBJECT_CHARACTERS)}…</small>`
      : html``
  }`;
};

const decided = (row: DecisionStory, language: SummaryLanguage): Html => {
  const reason = madeIn(row)?.says.reason;
  const laws = row.legal_bases.map((law) => labelOf(LABELS.laws, law, language));
  return html`<strong>${plain("outcome")(row)}</strong>${reason === undefined ? html`` : html`<small>${reason}</small>`}${laws.map((law) => html`<small class="law">${law}</small>`)}`;
};

/** The event that made it; what it says stands in a column of its own. */
const madeIn = ({ steps, made_at }: DecisionStory): Step | undefined =>
  steps.find(({ at, type }) => type === DECISION_MADE && made_at === `${at}Z`);

/** In the words of the event; of an objection what it asks for. */
const detailOf = ({ says }: Step, language: SummaryLanguage): string => {
  const { reviewer } = SUMMARY_WORDS[language];
  const asked =
    says.objection_type === undefined
      ? undefined
      : labelOf(LABELS.objection_types, says.objection_type, language);
  const result = says.final_outcome ?? says.outcome ?? says.resolution ?? asked;
  const by = says.reviewer_id === undefined ? undefined : reviewer(says.reviewer_id);
  return [result, by, says.reason].filter((each) => each !== undefined).join(", ");
};

const inUtc = (at: Fact["at"]): string => readableTime(at).slice(0, SECONDS);

const step = (each: Step, made: Step | undefined, language: SummaryLanguage): Html => {
  const words = SUMMARY_WORDS[language];
  const detail = each === made ? "" : detailOf(each, language);
  const rule = each.linkedBy === undefined ? words.unlinked : linkText(each.linkedBy, language);
  return html`<li>${labelOf(LABELS.event_types, each.type, language)}${detail === "" ? html`` : html`: ${detail}`}<small>${inUtc(each.at)}, ${words.received(inUtc(each.recorded))}, ${rule}</small></li>`;
};

const happened = (row: DecisionStory, language: SummaryLanguage): Html =>
  html`<ul class="steps">${row.steps.map((each) => step(each, madeIn(row), language))}${
    row.furtherSteps === 0 ? html`` : html`<li>${SUMMARY_WORDS[language].moreSteps(row.furtherSteps)}</li>`
  }</ul>`;

const missing = (row: DecisionStory, language: SummaryLanguage): Html => {
  const { notInLog, notDue, nothingMissing } = SUMMARY_WORDS[language];
  const named = (steps: readonly string[]): string =>
    steps.map((each) => labelOf(LABELS.steps, each, language)).join(", ");
  if (row.missing.length + row.pending.length === 0) return html`<span class="none">${nothingMissing}</span>`;
  return html`${row.missing.length === 0 ? html`` : html`<strong class="lacking">${notInLog}:</strong> ${named(row.missing)}`}${
    row.pending.length === 0 ? html`` : html`<small>${notDue}: ${named(row.pending)}</small>`
  }`;
};

const DECISIONS: readonly Column<DecisionStory>[] = [
  { name: "decision", kind: "name", width: 19, cell: decision },
  { name: "decided", width: 22, cell: decided },
  { name: "happened", width: 42, cell: happened },
  { name: "missing", width: 17, cell: missing },
];

export const decisionsTable = (rows: readonly DecisionStory[], language: SummaryLanguage): Html =>
  table(language, DECISIONS, rows);

export const orNone = (text: unknown, none: string): Html =>
  typeof text === "string" ? html`${text}` : html`<span class="none">${none}</span>`;

const ASSETS: readonly Column<Entry>[] = [
  { name: "system", kind: "name", width: 27, cell: plain("asset_id") },
  {
    name: "oversight",
    width: 27,
    cell: (row, language) => orNone(row.oversight_person, SUMMARY_WORDS[language].nobody),
  },
  { name: "owner", width: 23, cell: (row, language) => orNone(row.owner, SUMMARY_WORDS[language].nobody) },
  {
    name: "tier",
    width: 11,
    cell: ({ risk_tier }, language) =>
      typeof risk_tier === "string" ? html`${labelOf(LABELS.risk_tiers, risk_tier, language)}` : html`–`,
  },
  { name: "version", width: 12, cell: plain("version") },
];

export const assetsTable = (rows: readonly Entry[], language: SummaryLanguage): Html =>
  table(language, ASSETS, rows);
