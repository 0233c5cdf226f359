/** The subjects of a bundle: its assets with the persons responsible for them, and what was decided. */

import { timeKey } from "../../event/formats.ts";
import type { Fact } from "../../law/cases/fact.ts";
import type { LinkedBy } from "../../law/cases/links.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { EVIDENCE_SUMMARY_ROWS_MAX, PART_ROWS_MAX } from "../../limits.ts";
import { assetEntry, assetList, findAsset } from "../../views/assets/queries.ts";
import { type FoundCase, findCase } from "../../views/cases/queries.ts";
import { decisionList } from "../../views/cases/registers/decisions.ts";
import { entryOf, listRows } from "../../views/kit/list.ts";
import { type Row, rowText } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import type { EvidenceFilter } from "./evidence-filter.ts";
import { type Found, ofAssets } from "./related-records.ts";

export type Entry = Readonly<Record<string, unknown>>;

export interface Subjects {
  readonly assets: readonly Entry[];
  /** The list is not complete. */
  readonly hasMoreAssets: boolean;
  /** Those with missing steps first. */
  readonly decisions: readonly DecisionStory[];
  /** The list is not complete. */
  readonly hasMoreDecisions: boolean;
}

/** The entry of the register, and what it does not say. */
export interface DecisionStory extends Entry {
  readonly decision_id: string;
  readonly missing: readonly string[];
  readonly pending: readonly string[];
  readonly legal_bases: readonly string[];
  /** The first events of the decision, in the order of their own times. */
  readonly steps: readonly Step[];
  readonly furtherSteps: number;
}

export interface Step extends Pick<Fact, "id" | "type" | "at" | "recorded" | "says"> {
  /** The rule that links it to the decision. */
  readonly linkedBy: LinkedBy | undefined;
}

type Views = Pick<ViewStore, "load" | "select">;

interface Question {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  /** If the bundle is about a case, a decision or a person. */
  readonly found: Found | undefined;
  readonly rules: Rules;
  /** The current time, as text that sorts by time. */
  readonly at: string;
}

export const readSubjects = async (views: Views, question: Question): Promise<Subjects> => {
  const assets: Entry[] = [];
  for await (const entry of assetEntries(views, question))
    if (assets.push(entry) > EVIDENCE_SUMMARY_ROWS_MAX) break;
  const { rows, hasMore } = await chooseDecisions(views, question);
  const caseOf = caseFinder(views, question);
  const decisions: DecisionStory[] = [];
  for (const row of rows) decisions.push(storyOf(row, await caseOf(rowText(row, "decision_id")), question));
  return {
    assets: assets.slice(0, EVIDENCE_SUMMARY_ROWS_MAX),
    hasMoreAssets: assets.length > EVIDENCE_SUMMARY_ROWS_MAX,
    decisions,
    hasMoreDecisions: hasMore,
  };
};

async function* assetEntries(
  views: Views,
  { tenant, filter: { assetIds }, found, at }: Question,
): AsyncGenerator<Entry> {
  const ids = assetIds ?? (found && new Set(found.facts.map(({ asset }) => asset)));
  if (ids === undefined) {
    const all = listRows(views, tenant, assetList, { where: [], pageRows: PART_ROWS_MAX });
    for await (const row of all) yield assetEntry(row, at);
    return;
  }
  for (const id of ids) {
    const row = await findAsset(views, tenant, id);
    if (row) yield assetEntry(row, at);
  }
}

/** Of more decisions than the page shows, those with missing steps, then the earliest. */
const chooseDecisions = async (views: Views, question: Question) => {
  const lacking: Row[] = [];
  const others: Row[] = [];
  let count = 0;
  for await (const row of decisionRows(views, question)) {
    count++;
    const those = missingIn(row, question.at) ? lacking : others;
    if (those.length < EVIDENCE_SUMMARY_ROWS_MAX) those.push(row);
    if (lacking.length === EVIDENCE_SUMMARY_ROWS_MAX && count > EVIDENCE_SUMMARY_ROWS_MAX) break;
  }
  return {
    rows: [...lacking, ...others].slice(0, EVIDENCE_SUMMARY_ROWS_MAX),
    hasMore: count > EVIDENCE_SUMMARY_ROWS_MAX,
  };
};

const missingIn = (row: Row, at: string): boolean =>
  row.steps !== "[]" && texts(entryOf(decisionList, row, at).missing).length > 0;

/** Those that were made in the period. */
async function* decisionRows(views: Views, { tenant, filter, found }: Question): AsyncGenerator<Row> {
  const [from, to] = [filter.from, filter.to].map((time) => time && timeKey(time));
  const rows =
    found?.decisions ??
    listRows(views, tenant, decisionList, { ...ofAssets(filter.assetIds), pageRows: PART_ROWS_MAX });
  for await (const row of rows) {
    const at = rowText(row, "at");
    if ((from === undefined || at >= from) && (to === undefined || at < to)) yield row;
  }
}

/** Finds each case once: it may hold all the decisions of a page. */
const caseFinder = (views: Views, { tenant, found: ofBundle, rules }: Question) => {
  const known = new Map<string, FoundCase>();
  return async (decisionId: string): Promise<FoundCase | undefined> => {
    const found =
      ofBundle?.case ??
      known.get(decisionId) ??
      (await findCase(views, tenant, { kind: "decision", value: decisionId, rules }));
    for (const { id } of found?.is.decisions ?? []) if (found) known.set(id, found);
    return found;
  };
};

/** One decision may have thousands of events; the bundle holds them all. */
const STEPS_MAX = 20;

const storyOf = (
  row: Row,
  found: FoundCase | undefined,
  { at, found: ofBundle, filter: { assetIds } }: Question,
): DecisionStory => {
  const id = rowText(row, "decision_id");
  const decision = found?.is.decisions.find((each) => each.id === id);
  // A bundle about systems says nothing of the events of others.
  const isTold = ({ asset }: Fact): boolean => ofBundle !== undefined || assetIds?.includes(asset) !== false;
  const facts = decision?.facts.filter(isTold) ?? [];
  const entry = entryOf(decisionList, row, at);
  return {
    ...entry,
    decision_id: id,
    missing: texts(entry.missing),
    pending: texts(entry.pending),
    legal_bases: texts(JSON.parse(rowText(row, "legal_bases"))),
    steps: facts.slice(0, STEPS_MAX).map((fact) => ({
      ...{ id: fact.id, type: fact.type, at: fact.at, recorded: fact.recorded, says: fact.says },
      linkedBy: found?.is.links.decisionOf(fact)?.by,
    })),
    furtherSteps: Math.max(0, facts.length - STEPS_MAX),
  };
};

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
