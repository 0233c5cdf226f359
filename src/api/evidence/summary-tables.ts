/** The tables of summary.html. Pure. */
import { DECISION_MADE } from "../../law/cases/fact.ts";
import type { Entry } from "../http/downloads.ts";
import { labelOf } from "../vocabulary/labels.ts";
import { breakable, type Html, html } from "./html.ts";
import type { DecisionStory, Step } from "./subjects.ts";
import { COLUMNS, SUMMARY_WORDS, type SummaryLanguage, type SummaryWords } from "./summary-words.ts";

interface Column<Of> {
  readonly name: keyof typeof COLUMNS;
  readonly kind?: "number" | "time" | "id" | "name";
  /** Width in per cent of the table. */
  readonly width: number;
  readonly cell: (row: Of, speech: Speech) => Html;
}

/** A cell's content in the language of the page. */
interface Speech {
  readonly language: SummaryLanguage;
  readonly words: SummaryWords;
  readonly label: (kind: Parameters<typeof labelOf>[0], name: unknown) => string;
}

const speechIn = (language: SummaryLanguage): Speech => ({
  language,
  words: SUMMARY_WORDS[language],
  label: (kind, name) => labelOf(kind, name, language),
});

const tableOf =
  <Of>(columns: readonly Column<Of>[]) =>
  (rows: readonly Of[], language: SummaryLanguage): Html => {
    const speech = speechIn(language);
    const nameOf = ({ name }: Column<Of>): string => COLUMNS[name][language];
    const heads = columns.map(
      (column) =>
        html`<th class="${column.kind === "number" ? "number" : ""}" scope="col">${nameOf(column)}</th>`,
    );
    const cells = columns.map((column) => ({
      cell: column.cell,
      start: html`<td class="${column.kind ?? ""}" data-label="${nameOf(column)}">`,
    }));
    const rowOf = (row: Of): Html =>
      html`<tr>${cells.map(({ start, cell }) => html`${start}${cell(row, speech)}</td>`)}</tr>\n`;
    return html`<table>
<colgroup>${columns.map(({ width }) => html`<col style="width: ${width}%">`)}</colgroup>
<thead><tr>${heads}</tr></thead>
<tbody>
${rows.map(rowOf)}</tbody>
</table>`;
  };

/** `2026-11-20 10:00:00`, with its fraction if it has one. The page says that times are UTC. */
export const readableTime = (text: unknown): string =>
  typeof text === "string" ? text.replace("T", " ").replace(/(?:\.0+)?Z$/, "") : "";

/** The same in whole seconds, the unit of obligations. */
export const readableSecond = (text: unknown): string =>
  readableTime(text).slice(0, "2026-11-20 10:00:00".length);

export const orNone = (text: unknown, none: string): Html =>
  typeof text === "string" ? html`${text}` : html`<span class="none">${none}</span>`;

const NOTHING = html``;

const small = (text: Html | string | undefined): Html =>
  text === undefined ? NOTHING : html`<small>${text}</small>`;

const plain =
  (name: string) =>
  (row: Entry): Html =>
    breakable(String(row[name] ?? "–"));

/** A line may break between date and time, and nowhere else. */
const timeCell = (text: string): Html => {
  const [date = "", ...rest] = text.split(" ");
  return date === "" ? html`–` : html`<span class="whole">${date}</span> ${rest.join(" ")}`;
};

const time =
  (name: string) =>
  (row: Entry): Html =>
    timeCell(readableTime(row[name]));

const second =
  (name: string) =>
  (row: Entry): Html =>
    timeCell(readableSecond(row[name]));

/** With its name in the log below, the only one in the bundle's files. */
const eventType = ({ event_type }: Entry, { label }: Speech): Html => {
  const type = String(event_type);
  const named = label("event_types", type);
  return named === type ? breakable(type) : html`${named}${small(breakable(type))}`;
};

/** Null where no rule links what should be linked; absent where the page does not know. */
const linkedBy = ({ linked_by: rule }: Entry, { words, label }: Speech): Html =>
  rule === null
    ? html`<strong>${words.unlinked}</strong>`
    : html`${rule === undefined ? "–" : label("linked_by", rule)}`;

export const timelineTable = tableOf<Entry>([
  { name: "time", kind: "time", width: 12, cell: time("timestamp") },
  { name: "received", kind: "time", width: 12, cell: time("received_at") },
  { name: "event", kind: "name", width: 20, cell: eventType },
  { name: "system", kind: "name", width: 13, cell: plain("asset_id") },
  { name: "eventId", kind: "id", width: 15, cell: plain("event_id") },
  { name: "linkedBy", width: 14, cell: linkedBy },
  { name: "sequence", kind: "number", width: 8, cell: plain("sequence") },
  { name: "leaf", kind: "number", width: 6, cell: plain("leaf_index") },
]);

const state = ({ state: name }: Entry, { label }: Speech): Html =>
  html`<span class="state state-${String(name)}">${label("obligation_states", name)}</span>`;

/** With who waived it and why: a waiver is never hidden. */
const obligation = (row: Entry, { language, words, label }: Speech): Html => {
  const { rule, waived_at, waived_by, waived_reason } = row;
  const duty = language === "en" ? String(row.duty ?? rule) : label("rules", rule);
  const waiver =
    typeof waived_at === "string"
      ? words.waived(readableTime(waived_at), String(waived_by), String(waived_reason))
      : undefined;
  return html`${duty}${small(String(rule))}${small(waiver)}`;
};

/** The system, and the decision, objection or incident that it is about. */
const about = (row: Entry): Html => {
  const name = [row.decision_id, row.incident_id, row.objection_id].find((each) => typeof each === "string");
  return html`${plain("asset_id")(row)}${typeof name === "string" ? small(breakable(name)) : NOTHING}`;
};

/** When the log received the event that met it. */
const recorded = (row: Entry, { words }: Speech): Html =>
  html`${second("stopped_recorded_at")(row)}${row.recorded_late === true ? html` <strong>${words.late}</strong>` : NOTHING}`;

export const obligationsTable = tableOf<Entry>([
  { name: "state", width: 12, cell: state },
  { name: "due", kind: "time", width: 11, cell: second("due_at") },
  { name: "obligation", width: 18, cell: obligation },
  { name: "clause", width: 15, cell: plain("clause") },
  { name: "system", kind: "name", width: 14, cell: about },
  { name: "since", kind: "time", width: 10, cell: second("started_at") },
  { name: "met", kind: "time", width: 10, cell: second("stopped_at") },
  { name: "recorded", kind: "time", width: 10, cell: recorded },
]);

/** Enough to recognise a person. */
const SUBJECT_CHARACTERS = "sha256:0123456789ab".length;

const decision = (row: DecisionStory): Html => {
  const subject = row.subject_hash;
  const person =
    typeof subject === "string"
      ? html`<small class="id">${subject.slice(0, SUBJECT_CHARACTERS)}…</small>`
      : NOTHING;
  return html`<span class="id">${breakable(row.decision_id)}</span>${small(plain("asset_id")(row))}${person}`;
};

const decided = (row: DecisionStory, { label }: Speech): Html => {
  const laws = row.legal_bases.map((law) => html`<small class="law">${label("laws", law)}</small>`);
  return html`<strong>${plain("outcome")(row)}</strong>${small(madeIn(row)?.says.reason)}${laws}`;
};

/** The event behind it; its text has a column of its own. */
const madeIn = ({ steps, made_at }: DecisionStory): Step | undefined =>
  steps.find(({ at, type }) => type === DECISION_MADE && made_at === `${at}Z`);

/** In the event's words; for an objection, what it asks for. */
const detailOf = ({ says }: Step, { words, label }: Speech): string => {
  const { objection_type: asked, reviewer_id: by } = says;
  return [
    says.final_outcome ??
      says.outcome ??
      says.resolution ??
      (asked === undefined ? undefined : label("objection_types", asked)),
    by === undefined ? undefined : words.reviewer(by),
    says.reason,
  ]
    .filter((each) => each !== undefined)
    .join(", ");
};

const happened = (row: DecisionStory, speech: Speech): Html => {
  const { words, label } = speech;
  const made = madeIn(row);
  const item = (step: Step): Html => {
    const detail = step === made ? "" : detailOf(step, speech);
    const rule = step.linkedBy === undefined ? words.unlinked : label("linked_by", step.linkedBy);
    const times = `${readableSecond(step.at)}, ${words.received(readableSecond(step.recorded))}, ${rule}`;
    return html`<li>${label("event_types", step.type)}${detail === "" ? "" : `: ${detail}`}${small(times)}</li>`;
  };
  const more = row.furtherSteps === 0 ? NOTHING : html`<li>${words.moreSteps(row.furtherSteps)}</li>`;
  return html`<ul class="steps">${row.steps.map(item)}${more}</ul>`;
};

const missing = (row: DecisionStory, { words, label }: Speech): Html => {
  const named = (steps: readonly string[]): string => steps.map((each) => label("steps", each)).join(", ");
  if (row.missing.length + row.pending.length === 0)
    return html`<span class="none">${words.nothingMissing}</span>`;
  const lacking =
    row.missing.length === 0
      ? NOTHING
      : html`<strong class="lacking">${words.notInLog}:</strong> ${named(row.missing)}`;
  return html`${lacking}${small(row.pending.length === 0 ? undefined : `${words.notDue}: ${named(row.pending)}`)}`;
};

export const decisionsTable = tableOf<DecisionStory>([
  { name: "decision", kind: "name", width: 19, cell: decision },
  { name: "decided", width: 22, cell: decided },
  { name: "happened", width: 42, cell: happened },
  { name: "missing", width: 17, cell: missing },
]);

const orNobody =
  (name: string) =>
  (row: Entry, { words }: Speech): Html =>
    orNone(row[name], words.nobody);

const tier = ({ risk_tier }: Entry, { label }: Speech): Html =>
  html`${typeof risk_tier === "string" ? label("risk_tiers", risk_tier) : "–"}`;

export const assetsTable = tableOf<Entry>([
  { name: "system", kind: "name", width: 27, cell: plain("asset_id") },
  { name: "oversight", width: 27, cell: orNobody("oversight_person") },
  { name: "owner", width: 23, cell: orNobody("owner") },
  { name: "tier", width: 11, cell: tier },
  { name: "version", width: 12, cell: plain("version") },
]);
