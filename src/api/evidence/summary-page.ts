/** summary.html: what a bundle contains, for people who read it on paper or on a screen. It has no script and loads nothing. Pure. */

import { canonicalEventId } from "../../event/formats.ts";
import { linkOf, unlinkedIn } from "../../law/cases/case.ts";
import { EVIDENCE_CONTENTS_RECORDS_MIN } from "../../limits.ts";
import { encodeBase64 } from "../../proof/base64.ts";
import { originOf } from "../../proof/seal.ts";
import type { ShownDuties } from "./duties.ts";
import type { EvidenceFilter } from "./evidence-filter.ts";
import { type Html, html } from "./html.ts";
import type { SelectedRecord } from "./records.ts";
import type { Selection } from "./selection.ts";
import type { Entry } from "./subjects.ts";
import { SUMMARY_STYLE } from "./summary-style.ts";
import {
  assetsTable,
  decisionsTable,
  dutiesTable,
  orNone,
  readableSecond,
  readableTime,
  timelineTable,
} from "./summary-tables.ts";
import {
  figure,
  SUMMARY_WORDS,
  type SummaryLanguage,
  type SummaryWords,
  type Term,
} from "./summary-words.ts";

/** The content of a bundle, and who asked for it. */
export interface BundleRequest {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  readonly selection: Selection;
  readonly serviceName: string;
  /** Of summary.html. */
  readonly language: SummaryLanguage;
  /** Name and version of the program. */
  readonly generator: string;
  readonly generatedAt: Date;
  /** The id of the requesting key. */
  readonly madeBy: string;
  readonly requestId: string;
}

export interface TimelineRow extends Pick<SelectedRecord, "sequence" | "leafIndex"> {
  readonly receivedAt: string;
  /** What the page shows of an event, as it was sent. */
  readonly event: Entry;
}

/** Only these members are kept: with whole events, as many rows as a page may have took 1.5 GB if the events were large (measured). */
export const timelineRow = (
  { sequence, leafIndex }: Pick<SelectedRecord, "sequence" | "leafIndex">,
  { receivedAt, eventText }: { readonly receivedAt: string; readonly eventText: string },
): TimelineRow => {
  const { timestamp, event_type, asset_id, event_id }: Entry = JSON.parse(eventText);
  return { sequence, leafIndex, receivedAt, event: { timestamp, event_type, asset_id, event_id } };
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

const NOTHING = html``;

export const summaryPage = (parts: SummaryParts): string => {
  const { language, selection } = parts;
  const words = SUMMARY_WORDS[language];
  const title = words.evidence(subject(parts, words));
  // What needs somebody comes first, what it rests on last.
  const sections = [obligations, decisions, timeline, whoToAsk, coverage, howToVerify, limits].map(
    (section) => section(parts, words),
  );
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
<p class="lead">${lead(parts, words)}</p>
<p class="lead">${obligationsLead(parts, words)} ${words.times}</p>
${selection.records.length > EVIDENCE_CONTENTS_RECORDS_MIN ? contents(sections, words) : NOTHING}
${sections.map(({ id, title: heading, content }) => html`<section>\n<h2 id="${id}">${heading}</h2>\n${content}\n</section>\n`)}</main>
</body>
</html>
`;
  return page.html;
};

const contents = (sections: readonly Section[], { contents: heading }: SummaryWords): Html => {
  const item = ({ id, title, count }: Section): Html =>
    html`<li><a href="#${id}">${title}</a>${count === undefined ? NOTHING : html` <span class="count">${figure(count)}</span>`}</li>\n`;
  return html`<nav>
<h2>${heading}</h2>
<ol>
${sections.map(item)}</ol>
</nav>`;
};

const subject = ({ tenant, filter }: SummaryParts, words: SummaryWords): string => {
  const { assetIds, correlationId, decisionId, subjectHash } = filter;
  if (correlationId !== undefined) return words.ofCase(correlationId);
  if (decisionId !== undefined) return words.ofDecision(decisionId);
  if (subjectHash !== undefined) return words.ofPerson(subjectHash);
  return assetIds === undefined ? words.ofTenant(tenant) : words.ofSystem(assetIds.join(", "));
};

const shownRecords = ({ selection }: SummaryParts): number =>
  selection.records.filter(({ isWithheld }) => !isWithheld).length;

const lead = (parts: SummaryParts, words: SummaryWords): string => {
  const { tenant, filter, selection } = parts;
  const { records, isComplete, head } = selection;
  if (!isComplete) return words.part(records.length, tenant, head.size, period(filter, words));
  const hidden = records.length - shownRecords(parts);
  return words.whole(records.length, tenant, head.size) + (hidden === 0 ? "" : words.withheld(hidden));
};

const period = ({ from, to }: EvidenceFilter, words: SummaryWords): string =>
  words.period(from && readableTime(from), to && readableTime(to));

const madeAt = ({ generatedAt }: SummaryParts): string => readableSecond(generatedAt.toISOString());

/** What a reader must not miss, before anything else. */
const obligationsLead = (parts: SummaryParts, words: SummaryWords): Html => {
  const { count, overdue, breached, recordedLate } = parts.duties;
  return html`${words.duties(count, madeAt(parts), overdue, breached)} ${words.recordedLate(recordedLate)}`;
};

/** A table between what is said of it; only a sentence where there is nothing. */
const listed = (rows: number, none: string, parts: readonly Html[]): Html =>
  rows === 0 ? html`<p class="none">${none}</p>` : html`${parts}`;

const note = (text: Html | string): Html => html`<p>${text}</p>\n`;

const obligations = (parts: SummaryParts, words: SummaryWords): Section => {
  const { entries, count } = parts.duties;
  const content = listed(count, words.noObligation, [
    note(words.obligationsNote(madeAt(parts))),
    dutiesTable(entries, parts.language),
    count > entries.length ? note(words.more(entries.length, count, "obligations.csv")) : NOTHING,
  ]);
  return { id: "obligations", title: words.obligations, count, content };
};

const decisions = ({ selection, language }: SummaryParts, words: SummaryWords): Section => {
  const { decisions: stories, hasMoreDecisions } = selection.subjects;
  const content = listed(stories.length, words.noDecision, [
    note(words.decisionsNote),
    decisionsTable(stories, language),
    hasMoreDecisions ? note(words.moreDecisions) : NOTHING,
  ]);
  const count = hasMoreDecisions ? {} : { count: stories.length };
  return { id: "decisions", title: words.decisions, ...count, content };
};

/** By event id: the rule that links an event to what this page shows; null where none links it. */
const linksIn = ({ case: found, subjects }: Selection): ReadonlyMap<string, string | null | undefined> =>
  new Map<string, string | null | undefined>([
    ...subjects.decisions.flatMap(({ steps }) => steps.map(({ id, linkedBy }) => [id, linkedBy] as const)),
    // Of a case, what its answer says.
    ...(found?.is.facts.map((fact) => [fact.id, linkOf(fact, found.is.links)?.by] as const) ?? []),
    ...(found ? unlinkedIn(found.is).map(({ fact }) => [fact.id, null] as const) : []),
  ]);

const timeline = (parts: SummaryParts, words: SummaryWords): Section => {
  const { timeline: rows, language, selection } = parts;
  const shown = shownRecords(parts);
  const links = linksIn(selection);
  const entries = rows.map(({ event, receivedAt, sequence, leafIndex }) => ({
    ...event,
    received_at: receivedAt,
    linked_by: links.get(canonicalEventId(String(event.event_id))),
    sequence,
    leaf_index: leafIndex,
  }));
  const content = listed(rows.length, words.hashesOnly, [
    note(words.timelineNote),
    timelineTable(entries, language),
    shown > rows.length ? note(words.more(rows.length, shown, "events.csv")) : NOTHING,
  ]);
  return { id: "timeline", title: words.timeline, ...(shown > 0 && { count: shown }), content };
};

const whoToAsk = ({ selection, language }: SummaryParts, words: SummaryWords): Section => {
  const { assets, hasMoreAssets } = selection.subjects;
  const content = listed(assets.length, words.nobodyToAsk, [
    note(words.assetsNote),
    assetsTable(assets, language),
    hasMoreAssets ? note(words.moreAssets) : NOTHING,
  ]);
  return { id: "people", title: words.whoToAsk, content };
};

const coverage = (parts: SummaryParts, words: SummaryWords): Section => {
  const { tenant, filter, selection } = parts;
  const { head, records } = selection;
  const [first, last] = [records.at(0), records.at(-1)];
  const leaves = [first?.leafIndex ?? 0, last?.leafIndex ?? 0] as const;
  const sequences = [first?.sequence ?? 0, last?.sequence ?? 0] as const;
  const id = (text: string): Html => html`<span class="id">${text}</span>`;
  // Name and key id of the key that signs now; the key itself is in the file.
  const keyName = parts.keys.split("\n")[0]?.split("+").slice(0, 2).join("+") ?? "";
  const rows: readonly (readonly [Term, Html])[] = [
    ["tenant", html`${tenant}`],
    ["system", orNone(filter.assetIds?.join(", "), words.all)],
    ["case", orNone(filter.correlationId, words.all)],
    ["decision", orNone(filter.decisionId, words.all)],
    ["person", orNone(filter.subjectHash, words.all)],
    ["period", html`${period(filter, words)}`],
    ["records", html`${words.count(records.length)}, ${words.places(leaves, sequences)}`],
    ["tables", html`${words.tablesAsOf(selection.end)}`],
    ["log", id(originOf(parts.serviceName, tenant))],
    ["checkpoint", html`${words.root(head.size)} ${id(encodeBase64(head.root))}`],
    ["signingKey", id(keyName)],
    ["made", html`${words.made(madeAt(parts), parts.generator)} ${words.forKey} ${id(parts.madeBy)}`],
    ["request", id(parts.requestId)],
  ];
  const content = html`<dl>
${rows.map(([term, value]) => html`<dt>${words.terms[term]}</dt><dd>${value}</dd>\n`)}</dl>`;
  return { id: "coverage", title: words.coverage, content };
};

const howToVerify = ({ tenant }: SummaryParts, words: SummaryWords): Section => {
  const content = html`<p>${words.verifier}</p>
<pre><code>node prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip</code></pre>
<p>${words.verifierKey}</p>`;
  return { id: "verify", title: words.howToVerify, content };
};

const limits = ({ selection }: SummaryParts, words: SummaryWords): Section => {
  const { limits: says } = words;
  const events = selection.case?.events ?? 0;
  const kept = selection.case?.is.facts.length ?? 0;
  const items = [
    says.truth,
    says.sent,
    ...(selection.isComplete ? [] : [says.filter]),
    ...(events > kept ? [says.kept(events, kept)] : []),
    says.tables,
    says.time,
  ];
  const content = html`<ul>\n${items.map((item) => html`<li>${item}</li>\n`)}</ul>`;
  return { id: "limits", title: words.notProven, content };
};
