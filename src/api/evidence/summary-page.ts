/** summary.html: what a bundle contains, for people who read it on paper or on a screen. It has no script and loads nothing. Pure. */

import { canonicalEventId } from "../../event/formats.ts";
import { linkOf, unlinkedIn } from "../../law/cases/case.ts";
import { EVIDENCE_CONTENTS_RECORDS_MIN } from "../../limits.ts";
import { encodeBase64 } from "../../proof/base64.ts";
import { originOf } from "../../proof/seal.ts";
import type { BundleRequest } from "./bundle-request.ts";
import type { ShownDuties } from "./duties.ts";
import { type Html, html } from "./html.ts";
import type { SelectedRecord } from "./selection.ts";
import type { Entry } from "./subjects.ts";
import { SUMMARY_STYLE } from "./summary-style.ts";
import {
  assetsTable,
  decisionsTable,
  dutiesTable,
  orNone,
  readableTime,
  timelineTable,
} from "./summary-tables.ts";
import { figure, SUMMARY_WORDS, type SummaryWords, type Term } from "./summary-words.ts";

export interface TimelineRow extends SelectedRecord {
  readonly receivedAt: string;
  /** What the page shows of an event, as it was sent. */
  readonly event: Entry;
}

/** Only these members are kept: with whole events, as many rows as a page may have took 1.5 GB if the events were large (measured). */
export const timelineRow = (
  record: SelectedRecord,
  { receivedAt, eventText }: { readonly receivedAt: string; readonly eventText: string },
): TimelineRow => {
  const { timestamp, event_type, asset_id, event_id }: Entry = JSON.parse(eventText);
  return { ...record, receivedAt, event: { timestamp, event_type, asset_id, event_id } };
};

export interface SummaryParts extends BundleRequest {
  /** Verifier keys, one per line, the keys that sign now first. */
  readonly keys: string;
  /** The first records. */
  readonly timeline: readonly TimelineRow[];
  readonly duties: ShownDuties;
}

interface Section {
  readonly id: string;
  readonly title: string;
  /** How many it is about. */
  readonly count?: number;
  readonly content: Html;
}

export const summaryPage = (parts: SummaryParts): string => {
  const { language, selection } = parts;
  const words = SUMMARY_WORDS[language];
  const shown = selection.records.filter(({ isWithheld }) => !isWithheld).length;
  const title = words.evidence(subject(parts, words));
  // What needs somebody comes first, what it rests on last.
  const sections = [
    obligations(parts, words),
    decisions(parts, words),
    timeline(parts, words, shown),
    whoToAsk(parts, words),
    { id: "coverage", title: words.coverage, content: coverage(parts, words) },
    { id: "verify", title: words.howToVerify, content: howToVerify(parts, words) },
    { id: "limits", title: words.notProven, content: limits(parts, words) },
  ];
  const page = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${{ html: SUMMARY_STYLE }}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p class="lead">${lead(parts, words, shown)}</p>
<p class="lead">${obligationsLead(parts, words)} ${words.times}</p>
${selection.records.length > EVIDENCE_CONTENTS_RECORDS_MIN ? contents(sections, words) : html``}
${sections.map(
  ({ id, title: heading, content }) => html`<section>
<h2 id="${id}">${heading}</h2>
${content}
</section>
`,
)}</main>
</body>
</html>
`;
  return page.html;
};

const contents = (sections: readonly Section[], { contents: heading }: SummaryWords): Html => html`<nav>
<h2>${heading}</h2>
<ol>
${sections.map(
  ({
    id,
    title,
    count,
  }) => html`<li><a href="#${id}">${title}</a>${count === undefined ? html`` : html` <span class="count">${figure(count)}</span>`}</li>
`,
)}</ol>
</nav>`;

const subject = ({ tenant, filter }: SummaryParts, words: SummaryWords): string => {
  const { assetIds, correlationId, decisionId, subjectHash } = filter;
  if (correlationId !== undefined) return words.ofCase(correlationId);
  if (decisionId !== undefined) return words.ofDecision(decisionId);
  if (subjectHash !== undefined) return words.ofPerson(subjectHash);
  return assetIds === undefined ? words.ofTenant(tenant) : words.ofSystem(assetIds.join(", "));
};

const lead = ({ selection, tenant, filter }: SummaryParts, words: SummaryWords, shown: number): string => {
  const { records, isComplete, head } = selection;
  const of = { count: records.length, tenant, size: head.size };
  if (!isComplete) return words.part({ ...of, period: period(filter, words) });
  const hidden = records.length - shown;
  return words.whole(of) + (hidden === 0 ? "" : words.withheld(hidden));
};

const period = ({ from, to }: SummaryParts["filter"], words: SummaryWords): string => {
  const [begin, end] = [from, to].map((time) => (time === undefined ? undefined : readableTime(time)));
  return words.period(begin, end);
};

const madeAt = (generatedAt: Date): string =>
  readableTime(generatedAt.toISOString()).slice(0, "2026-11-20 10:00:00".length);

/** What a reader must not miss, before anything else. */
const obligationsLead = ({ duties, generatedAt }: SummaryParts, words: SummaryWords): Html => {
  const { count, overdue, breached, recordedLate } = duties;
  const at = madeAt(generatedAt);
  return html`${words.duties({ count, at, overdue, breached })} ${words.recordedLate(recordedLate)}`;
};

const obligations = ({ duties, generatedAt, language }: SummaryParts, words: SummaryWords): Section => {
  const { entries, count } = duties;
  const more =
    count > entries.length ? html`<p>${words.more(entries.length, count, "obligations.csv")}</p>` : html``;
  const content =
    count === 0
      ? html`<p class="none">${words.noObligation}</p>`
      : html`<p>${words.obligationsNote(madeAt(generatedAt))}</p>
${dutiesTable(entries, language)}
${more}`;
  return { id: "obligations", title: words.obligations, count, content };
};

const decisions = ({ selection, language }: SummaryParts, words: SummaryWords): Section => {
  const { decisions: stories, hasMoreDecisions } = selection.subjects;
  const content =
    stories.length === 0
      ? html`<p class="none">${words.noDecision}</p>`
      : html`<p>${words.decisionsNote}</p>
${decisionsTable(stories, language)}
${hasMoreDecisions ? html`<p>${words.moreDecisions}</p>` : html``}`;
  const count = hasMoreDecisions ? {} : { count: stories.length };
  return { id: "decisions", title: words.decisions, ...count, content };
};

/** By event id: the rule that links an event to what this page shows; null where none links it. */
const linksIn = ({ selection }: SummaryParts): ReadonlyMap<string, string | null | undefined> => {
  const { case: found, subjects } = selection;
  const steps = subjects.decisions.flatMap((story) => story.steps);
  return new Map<string, string | null | undefined>([
    ...steps.map(({ id, linkedBy }) => [id, linkedBy] as const),
    // Of a case, what its answer says.
    ...(found?.is.facts.map((fact) => [fact.id, linkOf(fact, found.is.links)?.by] as const) ?? []),
    ...(found ? unlinkedIn(found.is).map(({ fact }) => [fact.id, null] as const) : []),
  ]);
};

const timeline = (parts: SummaryParts, words: SummaryWords, shown: number): Section => {
  const { timeline: rows, language } = parts;
  const title = words.timeline;
  if (rows.length === 0)
    return { id: "timeline", title, content: html`<p class="none">${words.hashesOnly}</p>` };
  const links = linksIn(parts);
  const entries = rows.map(({ event, receivedAt, sequence, leafIndex }) => ({
    timestamp: event.timestamp,
    received_at: receivedAt,
    event_type: event.event_type,
    asset_id: event.asset_id,
    event_id: event.event_id,
    linked_by: links.get(canonicalEventId(String(event.event_id))),
    sequence,
    leaf_index: leafIndex,
  }));
  const more = shown > rows.length ? html`<p>${words.more(rows.length, shown, "events.csv")}</p>` : html``;
  const content = html`<p>${words.timelineNote}</p>
${timelineTable(entries, language)}
${more}`;
  return { id: "timeline", title, count: shown, content };
};

const whoToAsk = ({ selection, language }: SummaryParts, words: SummaryWords): Section => {
  const { assets, hasMoreAssets } = selection.subjects;
  const content =
    assets.length === 0
      ? html`<p class="none">${words.nobodyToAsk}</p>`
      : html`<p>${words.assetsNote}</p>
${assetsTable(assets, language)}
${hasMoreAssets ? html`<p>${words.moreAssets}</p>` : html``}`;
  return { id: "people", title: words.whoToAsk, content };
};

const coverage = (parts: SummaryParts, words: SummaryWords): Html => {
  const { tenant, filter, selection, serviceName, keys, ...made } = parts;
  const { head, records } = selection;
  const [first, last] = [records.at(0), records.at(-1)];
  const leaves = [first?.leafIndex ?? 0, last?.leafIndex ?? 0] as const;
  const sequences = [first?.sequence ?? 0, last?.sequence ?? 0] as const;
  const row = (term: Term, value: Html): Html => html`<dt>${words.terms[term]}</dt><dd>${value}</dd>
`;
  const id = (text: string): Html => html`<span class="id">${text}</span>`;
  return html`<dl>
${[
  row("tenant", html`${tenant}`),
  row("system", orNone(filter.assetIds?.join(", "), words.all)),
  row("case", orNone(filter.correlationId, words.all)),
  row("decision", orNone(filter.decisionId, words.all)),
  row("person", orNone(filter.subjectHash, words.all)),
  row("period", html`${period(filter, words)}`),
  row("records", html`${words.count(records.length)}, ${words.places(leaves, sequences)}`),
  row("tables", html`${words.tablesAsOf(selection.end)}`),
  row("log", id(originOf(serviceName, tenant))),
  row("checkpoint", html`${words.root(head.size)} ${id(encodeBase64(head.root))}`),
  row("signingKey", id(keyName(keys))),
  row(
    "made",
    html`${words.made(madeAt(made.generatedAt), made.generator)} ${words.forKey} ${id(made.madeBy)}`,
  ),
  row("request", id(made.requestId)),
]}</dl>`;
};

/** Name and key id of the key that signs now; the key itself is in the file. */
const keyName = (keys: string): string => keys.split("\n")[0]?.split("+").slice(0, 2).join("+") ?? "";

const howToVerify = ({ tenant }: SummaryParts, words: SummaryWords): Html => html`<p>${words.verifier}</p>
<pre><code>node prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip</code></pre>
<p>${words.verifierKey}</p>`;

const limits = ({ selection }: SummaryParts, { limits: says }: SummaryWords): Html => {
  const events = selection.case?.events ?? 0;
  const kept = selection.case?.is.facts.length ?? 0;
  return html`<ul>
<li>${says.truth}</li>
<li>${says.sent}</li>
${selection.isComplete ? html`` : html`<li>${says.filter}</li>`}
${events > kept ? html`<li>${says.kept(events, kept)}</li>` : html``}
<li>${says.tables}</li>
<li>${says.time}</li>
</ul>`;
};
