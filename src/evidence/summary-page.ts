/** summary.html: what a bundle contains, for people who read it on paper or on a screen. It has no script and loads nothing. Pure. */
import { encodeBase64 } from "../proof/base64.ts";
import { originOf } from "../proof/seal.ts";
import type { BundleRequest } from "./bundle-request.ts";
import type { ShownDuties } from "./duties.ts";
import type { EvidenceFilter } from "./evidence-filter.ts";
import { type Html, html } from "./html.ts";
import type { SelectedRecord } from "./selection.ts";
import type { Entry, Subjects } from "./subjects.ts";
import { SUMMARY_STYLE } from "./summary-style.ts";

export interface TimelineRow extends SelectedRecord {
  /** What the page shows of an event, as it was sent. */
  readonly event: Entry;
}

/** Only these members are kept: with whole events, as many rows as a page may have took 1.5 GB if the events were large (measured). */
export const timelineRow = (record: SelectedRecord, eventText: string): TimelineRow => {
  const { timestamp, event_type, asset_id, event_id }: Entry = JSON.parse(eventText);
  return { ...record, event: { timestamp, event_type, asset_id, event_id } };
};

export interface SummaryParts extends BundleRequest {
  /** Verifier keys, one per line, the keys that sign now first. */
  readonly keys: string;
  /** The first records. */
  readonly timeline: readonly TimelineRow[];
  readonly duties: ShownDuties;
}

export const summaryPage = (parts: SummaryParts): string => {
  const { tenant, filter, selection, timeline } = parts;
  const shown = selection.records.filter(({ isWithheld }) => !isWithheld).length;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Evidence: ${subject(tenant, filter)}</title>
<style>${{ html: SUMMARY_STYLE }}</style>
</head>
<body>
<main>
<h1>Evidence: ${subject(tenant, filter)}</h1>
<p class="lead">${lead(parts, shown)}</p>
<p class="lead">${obligationsLead(parts)}</p>
${coverage(parts)}
<h2>Timeline</h2>
${timelineTable(timeline, shown)}
<h2>Obligations</h2>
${dutiesTable(parts)}
<h2>Decisions with missing steps</h2>
${decisionsTable(parts.selection.subjects)}
<h2>Who to ask</h2>
${assetsTable(parts.selection.subjects)}
${howToVerify(tenant)}
${limits(parts)}
</main>
</body>
</html>
`;
  return page.html;
};

const subject = (tenant: string, { assetId, correlationId }: EvidenceFilter): string => {
  if (assetId !== undefined) return `AI system ${assetId}`;
  return correlationId === undefined ? `tenant ${tenant}` : `case ${correlationId}`;
};

const lead = ({ selection, tenant, filter }: SummaryParts, shown: number): string => {
  const { records, isComplete, head } = selection;
  const count = `${counted(records.length, "record")} of the tenant ${tenant}`;
  const hidden = records.length - shown;
  const withheld =
    hidden === 0
      ? ""
      : ` Of ${counted(hidden, "record")} only the hash is here, because the event has expired, or is none that the service understands.`;
  if (isComplete)
    return `${count}: every record of its log up to the signed checkpoint of ${head.size}.${withheld}`;
  return `${count}, ${period(filter)}, each proven to be in the log of ${counted(head.size, "record")} that the checkpoint covers.`;
};

/** What a reader must not miss, before anything else. */
const obligationsLead = ({ duties, generatedAt }: SummaryParts): Html => {
  const { count, overdue, breached, recordedLate } = duties;
  const at = readableTime(generatedAt.toISOString());
  const states = `${obligations(count)} at ${at}: ${counts(overdue, "overdue")}, ${counts(breached, "breached")}.`;
  if (recordedLate === 0) return html`${states} None was recorded late.`;
  return html`${states} <strong>${obligations(recordedLate)} recorded late</strong>: the events say that ${recordedLate === 1 ? "it was" : "they were"} met in time or had more time, and the log received them only after the due time.`;
};

const counts = (count: number, state: string): string =>
  count === 0 ? `none is ${state}` : `${count.toLocaleString("en-US")} ${state}`;

const obligations = (count: number): string => counted(count, "obligation");

const counted = (count: number, what: string): string =>
  `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;

const orNone = (text: string | undefined, none: string): Html =>
  text === undefined ? html`<span class="none">${none}</span>` : html`${text}`;

const coverage = ({ tenant, filter, selection, serviceName, keys, ...made }: SummaryParts): Html => {
  const { head, records } = selection;
  const [first, last] = [records.at(0), records.at(-1)];
  return html`<h2>What it covers</h2>
<dl>
<dt>Tenant</dt><dd>${tenant}</dd>
<dt>AI system</dt><dd>${orNone(filter.assetId, "all")}</dd>
<dt>Case</dt><dd>${orNone(filter.correlationId, "all")}</dd>
<dt>Period</dt><dd>${period(filter)}</dd>
<dt>Records</dt><dd>${counted(records.length, "record")}, leaf ${first?.leafIndex ?? 0} to ${last?.leafIndex ?? 0}, sequence ${first?.sequence ?? 0} to ${last?.sequence ?? 0}</dd>
<dt>Tables</dt><dd>obligations, decisions and AI systems as they were at sequence ${selection.end} of the log</dd>
<dt>Log</dt><dd class="id">${originOf(serviceName, tenant)}</dd>
<dt>Checkpoint</dt><dd>${counted(head.size, "record")}, root <span class="id">${encodeBase64(head.root)}</span></dd>
<dt>Signing key</dt><dd class="id">${keyName(keys)}</dd>
<dt>Made</dt><dd>${readableTime(made.generatedAt.toISOString())} by ${made.generator} for the API key <span class="id">${made.madeBy}</span></dd>
<dt>Request</dt><dd class="id">${made.requestId}</dd>
</dl>`;
};

const period = ({ from, to }: EvidenceFilter): string => {
  const bounds = [
    ...(from === undefined ? [] : [`from ${readableTime(from)}`]),
    ...(to === undefined ? [] : [`before ${readableTime(to)}`]),
  ];
  return bounds.length === 0 ? "of all times" : `${bounds.join(", ")} (as events say)`;
};

/** Name and key id of the key that signs now; the key itself is in the file. */
const keyName = (keys: string): string => keys.split("\n")[0]?.split("+").slice(0, 2).join("+") ?? "";

/** `2026-11-20 10:00:00 UTC`, with its fraction if it has one. */
const readableTime = (text: unknown): string =>
  typeof text === "string" ? text.replace("T", " ").replace(/(?:\.0+)?Z$/, " UTC") : "";

interface Column {
  readonly label: string;
  readonly kind?: "number" | "time" | "id" | "name";
  /** Width in per cent of the table. */
  readonly width: number;
  readonly cell: (row: Entry) => Html;
}

const table = (columns: readonly Column[], rows: readonly Entry[]): Html => html`<table>
<colgroup>${columns.map(({ width }) => html`<col style="width: ${width}%">`)}</colgroup>
<thead><tr>${columns.map(({ label, kind }) => html`<th class="${kind === "number" ? "number" : ""}" scope="col">${label}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (
    row,
  ) => html`<tr>${columns.map(({ label, kind, cell }) => html`<td class="${kind ?? ""}" data-label="${label}">${cell(row)}</td>`)}</tr>
`,
)}</tbody>
</table>`;

const plain =
  (name: string) =>
  (row: Entry): Html =>
    row[name] === null || row[name] === undefined ? html`–` : breakable(String(row[name]));

/** Allows line breaks behind the parts of a name, before it breaks anywhere. */
const breakable = (text: string): Html =>
  html`${text.split(/(?<=[._/:-])/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))}`;
const time =
  (name: string) =>
  (row: Entry): Html =>
    html`${readableTime(row[name]) || "–"}`;

const TIMELINE: readonly Column[] = [
  { label: "Time", kind: "time", width: 17, cell: time("timestamp") },
  { label: "Event", kind: "name", width: 24, cell: plain("event_type") },
  { label: "AI system", kind: "name", width: 18, cell: plain("asset_id") },
  { label: "Event id", kind: "id", width: 24, cell: plain("event_id") },
  { label: "Sequence", kind: "number", width: 9, cell: plain("sequence") },
  { label: "Leaf", kind: "number", width: 8, cell: plain("leaf_index") },
];

const timelineTable = (timeline: readonly TimelineRow[], shown: number): Html => {
  if (timeline.length === 0) return html`<p class="none">Of all its records only the hash is here.</p>`;
  const rows = timeline.map(({ event, sequence, leafIndex }) => ({
    timestamp: event.timestamp,
    event_type: event.event_type,
    asset_id: event.asset_id,
    event_id: event.event_id,
    sequence,
    leaf_index: leafIndex,
  }));
  const more =
    shown > timeline.length
      ? html`<p>These are the first ${counted(timeline.length, "event")} of ${shown.toLocaleString("en-US")}; all are in <code>events.csv</code>.</p>`
      : html``;
  return html`<p>In the order of the log. The time is the one that the event gives itself.</p>
${table(TIMELINE, rows)}
${more}`;
};

/** With who waived it and why: a waiver is never hidden. */
const obligation = (row: Entry): Html =>
  row.waived_at === null || row.waived_at === undefined
    ? plain("duty")(row)
    : html`${plain("duty")(row)}<br>Waived ${readableTime(row.waived_at)} by ${String(row.waived_by)}: ${String(row.waived_reason)}`;

/** When the log received the event that met it. */
const recorded = (row: Entry): Html =>
  row.recorded_late === true
    ? html`${time("stopped_recorded_at")(row)} <strong>late</strong>`
    : time("stopped_recorded_at")(row);

const DUTIES: readonly Column[] = [
  {
    label: "State",
    width: 10,
    cell: ({ state }) =>
      html`<span class="state state-${String(state)}">${String(state).replace("_", " ")}</span>`,
  },
  { label: "Due", kind: "time", width: 12, cell: time("due_at") },
  { label: "Obligation", width: 19, cell: obligation },
  { label: "Where the law says so", width: 14, cell: plain("clause") },
  { label: "AI system", kind: "name", width: 12, cell: plain("asset_id") },
  { label: "Since", kind: "time", width: 11, cell: time("started_at") },
  { label: "Met", kind: "time", width: 11, cell: time("stopped_at") },
  { label: "Recorded", kind: "time", width: 11, cell: recorded },
];

const dutiesTable = ({ duties, generatedAt }: SummaryParts): Html => {
  const { entries, count } = duties;
  if (count === 0)
    return html`<p class="none">No event here starts an obligation that this service knows.</p>`;
  const more =
    count > entries.length
      ? html`<p>These are the first ${obligations(entries.length)} of ${count.toLocaleString("en-US")}; all are in <code>obligations.csv</code>.</p>`
      : html``;
  return html`<p>As the events say at ${readableTime(generatedAt.toISOString())}. Recorded is when the log received the event that met it. Obligations of all times are shown, also where the bundle has a period. Not legal advice: the clause is where to check.</p>
${table(DUTIES, entries)}
${more}`;
};

const DECISIONS: readonly Column[] = [
  { label: "Decision", kind: "id", width: 22, cell: plain("decision_id") },
  { label: "AI system", kind: "name", width: 20, cell: plain("asset_id") },
  { label: "Made", kind: "time", width: 17, cell: time("made_at") },
  { label: "Outcome", width: 14, cell: plain("outcome") },
  {
    label: "Not in the log",
    width: 27,
    cell: ({ missing }) =>
      html`${Array.isArray(missing) ? missing.map((step) => String(step).replaceAll("_", " ")).join(", ") : ""}`,
  },
];

const decisionsTable = ({ decisions, hasMoreDecisions }: Subjects): Html =>
  decisions.length === 0 && !hasMoreDecisions
    ? html`<p class="none">No step is missing from a decision that the log names.</p>`
    : html`${decisions.length === 0 ? html`` : table(DECISIONS, decisions)}
${hasMoreDecisions ? html`<p>There may be more: <code>GET /v1/decisions</code> lists all, each with what is missing.</p>` : html``}`;

const nobody = (row: Entry, name: string): Html =>
  orNone(typeof row[name] === "string" ? String(row[name]) : undefined, "none is recorded");

const ASSETS: readonly Column[] = [
  { label: "AI system", kind: "name", width: 27, cell: plain("asset_id") },
  { label: "Oversight", width: 27, cell: (row) => nobody(row, "oversight_person") },
  { label: "Owner", width: 23, cell: (row) => nobody(row, "owner") },
  { label: "Risk tier", width: 11, cell: plain("risk_tier") },
  { label: "Version", width: 12, cell: plain("version") },
];

const assetsTable = ({ assets, hasMoreAssets }: Subjects): Html =>
  assets.length === 0
    ? html`<p class="none">The register of AI systems has nobody to ask.</p>`
    : html`<p>From the register of AI systems: what events said last.</p>
${table(ASSETS, assets)}
${hasMoreAssets ? html`<p>There are more; <code>GET /v1/assets</code> lists all.</p>` : html``}`;

const howToVerify = (tenant: string): Html => html`<h2>How to verify</h2>
<p>The verifier is one file, needs no network and no account, and runs on Node 20.15 or newer, Bun and Deno:</p>
<pre><code>node prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip</code></pre>
<p><code>log.key</code> is the answer of <code>GET /v1/log/key</code>, got by a way that you trust and not from this bundle. <code>VERIFY.md</code> tells how to check without our verifier.</p>`;

const limits = ({ selection }: SummaryParts): Html => {
  const events = selection.case?.events ?? 0;
  const kept = selection.case?.is.facts.length ?? 0;
  return html`<h2>What it does not prove</h2>
<ul>
<li>That what an event says is true. It proves that these bytes were in the log when the checkpoint was signed, in this place and unchanged.</li>
<li>That everything was sent. What a system never sent is in no log.</li>
${selection.isComplete ? html`` : html`<li>That nothing else matches the filter. Only a bundle without a filter holds every record, and can be checked for gaps.</li>`}
${events > kept ? html`<li>That its obligations follow from the whole case: it has ${counted(events, "event")}, and ${kept.toLocaleString("en-US")} of those are looked at for them, up to a bound per name: the first decision and notice, then what is said of objections, explanations, reviews, reversals and incidents, then all else; of each sort the earliest.</li>` : html``}
<li>The tables of this page, <code>obligations.csv</code> and <code>events.csv</code>: the service worked them out from the records. The manifest, which is in the system's log, says that they are as they were made.</li>
<li>When an event happened. Its own time is its sender's word; the sequence is the order in which the log took it.</li>
</ul>`;
};
