/** summary.html: what a bundle contains, for people who read it on paper or on a screen. It has no script and loads nothing. Pure. */

import type { Actor } from "../../access/action.ts";
import { canonicalEventId } from "../../event/formats.ts";
import { linkOf, unlinkedIn } from "../../law/cases/case.ts";
import { EVIDENCE_CONTENTS_RECORDS_MIN } from "../../limits.ts";
import { encodeBase64 } from "../../proof/base64.ts";
import { originOf } from "../../proof/seal.ts";
import type { Entry } from "../http/downloads.ts";
import type { EvidenceFilter } from "./found.ts";
import { type Html, html } from "./html.ts";
import type { SelectedRecord } from "./records.ts";
import type { Selection } from "./selection.ts";
import { SUMMARY_STYLE } from "./summary-style.ts";
import {
  assetsTable,
  decisionsTable,
  obligationsTable,
  orNone,
  readableSecond,
  readableTime,
  timelineTable,
} from "./summary-tables.ts";
import { figure, SUMMARY_WORDS, type SummaryLanguage, type SummaryWords, TERMS } from "./summary-words.ts";

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
  readonly by: Actor;
}

/** Only these members of an event are kept: with whole large events, a full page took 1.5 GB (measured). */
export const timelineRow = (
  { sequence, leafIndex }: Pick<SelectedRecord, "sequence" | "leafIndex">,
  { receivedAt, eventText }: { readonly receivedAt: string; readonly eventText: string },
): Entry => {
  const { timestamp, event_type, asset_id, event_id }: Entry = JSON.parse(eventText);
  const event = { timestamp, event_type, asset_id, event_id };
  return { ...event, received_at: receivedAt, sequence, leaf_index: leafIndex };
};

export interface SummaryParts extends BundleRequest {
  /** Verifier keys, one per line, the keys that sign now first. */
  readonly keys: string;
  /** The first records. */
  readonly timeline: readonly Entry[];
}

interface Section {
  readonly id: string;
  readonly title: string;
  /** How many it covers. */
  readonly count?: number | undefined;
  readonly content: Html;
}

const NOTHING = html``;

export const summaryPage = (parts: SummaryParts): string => {
  const { language, selection } = parts;
  const { count, overdue, breached, recordedLate } = selection.obligations;
  const words = SUMMARY_WORDS[language];
  const title = words.evidence(subject(parts, words));
  const sections = sectionsOf(parts, words);
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
<p class="lead">${words.duties(count, madeAt(parts), overdue, breached)} ${words.recordedLate(recordedLate)} ${words.times}</p>
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
  return html`<nav>\n<h2>${heading}</h2>\n<ol>\n${sections.map(item)}</ol>\n</nav>`;
};

const subject = ({ tenant, filter }: SummaryParts, words: SummaryWords): string => {
  const { assetIds, correlationId, decisionId, subjectHash } = filter;
  if (correlationId !== undefined) return words.ofCase(correlationId);
  if (decisionId !== undefined) return words.ofDecision(decisionId);
  if (subjectHash !== undefined) return words.ofPerson(subjectHash);
  return assetIds === undefined ? words.ofTenant(tenant) : words.ofSystem(assetIds.join(", "));
};

const lead = ({ tenant, filter, selection }: SummaryParts, words: SummaryWords): string => {
  const { records, isComplete, head } = selection;
  if (!isComplete) return words.part(records.length, tenant, head.size, period(filter, words));
  const hidden = records.filter(({ isWithheld }) => isWithheld).length;
  return words.whole(records.length, tenant, head.size) + (hidden === 0 ? "" : words.withheld(hidden));
};

const period = ({ from, to }: EvidenceFilter, words: SummaryWords): string =>
  words.period(from && readableTime(from), to && readableTime(to));

const madeAt = ({ selection }: SummaryParts): string => readableSecond(selection.readAt.toISOString());

/** What needs action first, what it rests on last. */
const sectionsOf = (parts: SummaryParts, words: SummaryWords): readonly Section[] => {
  const { selection, language, tenant } = parts;
  const { obligations, records } = selection;
  const { decisions, hasMoreDecisions, assets, hasMoreAssets } = selection.subjects;
  const shown = records.filter(({ isWithheld }) => !isWithheld).length;
  const timeline = timelineOf(parts);
  const moreObligations = obligations.count > obligations.shown.length;
  return [
    {
      id: "obligations",
      title: words.obligations,
      count: obligations.count,
      content: listed(obligations.count, words.noObligation, [
        note(words.obligationsNote(madeAt(parts))),
        obligationsTable(obligations.shown, language),
        noteIf(moreObligations, words.more(obligations.shown.length, obligations.count, "obligations.csv")),
      ]),
    },
    {
      id: "decisions",
      title: words.decisions,
      count: hasMoreDecisions ? undefined : decisions.length,
      content: listed(decisions.length, words.noDecision, [
        note(words.decisionsNote),
        decisionsTable(decisions, language),
        noteIf(hasMoreDecisions, words.moreDecisions),
      ]),
    },
    {
      id: "timeline",
      title: words.timeline,
      count: shown > 0 ? shown : undefined,
      content: listed(timeline.length, words.hashesOnly, [
        note(words.timelineNote),
        timelineTable(timeline, language),
        noteIf(shown > timeline.length, words.more(timeline.length, shown, "events.csv")),
      ]),
    },
    {
      id: "people",
      title: words.whoToAsk,
      content: listed(assets.length, words.nobodyToAsk, [
        note(words.assetsNote),
        assetsTable(assets, language),
        noteIf(hasMoreAssets, words.moreAssets),
      ]),
    },
    { id: "coverage", title: words.coverage, content: coverage(parts, words) },
    {
      id: "verify",
      title: words.howToVerify,
      content: html`<p>${words.verifier}</p>
<pre><code>node prooftrail-verify.mjs --key log.key --tenant ${tenant} bundle.zip</code></pre>
<p>${words.verifierKey}</p>`,
    },
    { id: "limits", title: words.notProven, content: limits(selection, words) },
  ];
};

/** A table with its notes; only a sentence if it is empty. */
const listed = (rows: number, none: string, parts: readonly Html[]): Html =>
  rows === 0 ? html`<p class="none">${none}</p>` : html`${parts}`;

const note = (text: Html | string): Html => html`<p>${text}</p>\n`;
const noteIf = (isSo: boolean, text: Html | string): Html => (isSo ? note(text) : NOTHING);

const timelineOf = ({ timeline, selection }: SummaryParts): readonly Entry[] => {
  const { case: found, subjects } = selection;
  /** By event id: the rule that links an event to what this page shows; null where none links it. */
  const links = new Map<string, string | null | undefined>();
  for (const { steps } of subjects.decisions) for (const { id, linkedBy } of steps) links.set(id, linkedBy);
  // For a case, as in its answer.
  for (const fact of found?.is.facts ?? []) if (found) links.set(fact.id, linkOf(fact, found.is.links)?.by);
  for (const { fact } of found ? unlinkedIn(found.is) : []) links.set(fact.id, null);
  return timeline.map((row) => ({ ...row, linked_by: links.get(canonicalEventId(String(row.event_id))) }));
};

const coverage = (parts: SummaryParts, words: SummaryWords): Html => {
  const { tenant, filter, selection } = parts;
  const { head, records } = selection;
  const [first, last] = [records.at(0), records.at(-1)];
  const leaves = [first?.leafIndex ?? 0, last?.leafIndex ?? 0] as const;
  const sequences = [first?.sequence ?? 0, last?.sequence ?? 0] as const;
  const id = (text: string): Html => html`<span class="id">${text}</span>`;
  // Name and key id of the key that signs now; the key itself is in the file.
  const keyName = parts.keys.split("\n")[0]?.split("+").slice(0, 2).join("+") ?? "";
  const rows: readonly (readonly [keyof typeof TERMS, Html])[] = [
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
    [
      "made",
      html`${words.made(madeAt(parts), parts.generator)} ${words.forKey} ${id(parts.by.principal.keyId)}`,
    ],
    ["request", id(parts.by.requestId)],
  ];
  const term = ([name, value]: (typeof rows)[number]): Html =>
    html`<dt>${TERMS[name][parts.language]}</dt><dd>${value}</dd>\n`;
  return html`<dl>\n${rows.map(term)}</dl>`;
};

const limits = ({ isComplete, case: found }: Selection, { limits: says }: SummaryWords): Html => {
  const [events, kept] = [found?.events ?? 0, found?.is.facts.length ?? 0];
  const items = [
    says.truth,
    says.sent,
    ...(isComplete ? [] : [says.filter]),
    ...(events > kept ? [says.kept(events, kept)] : []),
    says.tables,
    says.time,
  ];
  return html`<ul>\n${items.map((item) => html`<li>${item}</li>\n`)}</ul>`;
};
