/** The subjects of a bundle: its assets with the persons responsible for them, and what was decided. */

import { timeKey } from "../../event/formats.ts";
import type { Fact } from "../../law/cases/fact.ts";
import type { LinkedBy } from "../../law/cases/links.ts";
import { EVIDENCE_SUMMARY_ROWS_MAX, PART_ROWS_MAX } from "../../limits.ts";
import { assetEntry, assetList } from "../../views/assets/tables.ts";
import { nodeName } from "../../views/cases/nodes.ts";
import { caseAround, type FoundCase, loadNodes, nodesIn } from "../../views/cases/queries.ts";
import { decisionList } from "../../views/cases/registers/decisions.ts";
import { entryOf, listRows } from "../../views/kit/list.ts";
import { type Row, rowText } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import type { Entry } from "../http/downloads.ts";
import { type Found, type FoundQuestion, ofAssets } from "./found.ts";

export interface Subjects {
  readonly assets: readonly Entry[];
  /** The list is not complete. */
  readonly hasMoreAssets: boolean;
  /** Those with missing steps first. */
  readonly decisions: readonly DecisionStory[];
  /** The list is not complete. */
  readonly hasMoreDecisions: boolean;
}

/** The entry of the register, and what it lacks. */
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

interface Question extends FoundQuestion {
  /** If the bundle is about a case, a decision or a person. */
  readonly found: Found | undefined;
  /** The current time, as text that sorts by time. */
  readonly at: string;
}

export const readSubjects = async (views: Views, question: Question): Promise<Subjects> => {
  const { tenant, filter, found, rules } = question;
  const assets: Entry[] = [];
  const ids = filter.assetIds ?? (found && [...new Set(found.facts.map(({ asset }) => asset))]);
  const ofThese = { ...ofAssets(ids), pageRows: PART_ROWS_MAX };
  for await (const row of listRows(views, tenant, assetList, ofThese))
    if (assets.push(assetEntry(row, question.at)) > EVIDENCE_SUMMARY_ROWS_MAX) break;
  const { rows, hasMore } = await chooseDecisions(views, question);
  const caseNameOf = (row: Row): string => nodeName("decision", rowText(row, "decision_id"));
  const node = nodesIn(await loadNodes(views, tenant, found?.case ? [] : rows.map(caseNameOf)));
  /** Each case is made once: it may hold all the decisions of a page. */
  const known = new Map<string, FoundCase>();
  const decisions: DecisionStory[] = [];
  for (const row of rows) {
    const own =
      found?.case ??
      known.get(rowText(row, "decision_id")) ??
      caseAround(tenant, caseNameOf(row), { node, rules });
    for (const { id } of own.is.decisions) known.set(id, own);
    decisions.push(storyOf(row, own, question));
  }
  return {
    assets: assets.slice(0, EVIDENCE_SUMMARY_ROWS_MAX),
    hasMoreAssets: assets.length > EVIDENCE_SUMMARY_ROWS_MAX,
    decisions,
    hasMoreDecisions: hasMore,
  };
};

/** Of the decisions of the period, and of more than the page shows those with missing steps, then the earliest. */
const chooseDecisions = async (views: Views, { tenant, filter, found, at: now }: Question) => {
  const [from = "", to = "~"] = [filter.from, filter.to].map((time) => time && timeKey(time));
  const all = { ...ofAssets(filter.assetIds), pageRows: PART_ROWS_MAX };
  const lacking: Row[] = [];
  const others: Row[] = [];
  let count = 0;
  for await (const row of found?.decisions ?? listRows(views, tenant, decisionList, all)) {
    const at = rowText(row, "at");
    if (at < from || at >= to) continue;
    count++;
    const isLacking = texts(decisionList.derived?.missing?.of(row, now)).length > 0;
    const those = isLacking ? lacking : others;
    if (those.length < EVIDENCE_SUMMARY_ROWS_MAX) those.push(row);
    if (lacking.length === EVIDENCE_SUMMARY_ROWS_MAX && count > EVIDENCE_SUMMARY_ROWS_MAX) break;
  }
  return {
    rows: [...lacking, ...others].slice(0, EVIDENCE_SUMMARY_ROWS_MAX),
    hasMore: count > EVIDENCE_SUMMARY_ROWS_MAX,
  };
};

/** One decision may have thousands of events; the bundle holds them all. */
const STEPS_MAX = 20;

const storyOf = (
  row: Row,
  found: FoundCase,
  { at, found: ofBundle, filter: { assetIds } }: Question,
): DecisionStory => {
  const id = rowText(row, "decision_id");
  const decision = found.is.decisions.find((each) => each.id === id);
  // A bundle about systems omits the events of others.
  const isTold = ({ asset }: Fact): boolean => ofBundle !== undefined || assetIds?.includes(asset) !== false;
  const facts = decision?.facts.filter(isTold) ?? [];
  const entry = entryOf(decisionList, row, at);
  return {
    ...entry,
    decision_id: id,
    missing: texts(entry.missing),
    pending: texts(entry.pending),
    legal_bases: texts(JSON.parse(rowText(row, "legal_bases"))),
    steps: facts
      .slice(0, STEPS_MAX)
      .map((fact) => ({ ...fact, linkedBy: found.is.links.decisionOf(fact)?.by })),
    furtherSteps: Math.max(0, facts.length - STEPS_MAX),
  };
};

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
