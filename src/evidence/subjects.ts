/** Whom and what a bundle is about: its assets with who answers for them, and the decisions whose steps are not all in the log. */
import { EVIDENCE_SUMMARY_ROWS_MAX, PAGE_ROWS_MAX } from "../limits.ts";
import { assetEntry, assetList, findAsset } from "../projections/assets/queries.ts";
import { decisionList, decisionsRegister } from "../projections/cases/registers/decisions.ts";
import { entryOf, listRows } from "../projections/list.ts";
import type { Row } from "../views/tables.ts";
import type { ViewStore } from "../views/view-store.ts";
import type { EvidenceFilter, Selection } from "./selection.ts";

export type Entry = Readonly<Record<string, unknown>>;

export interface Subjects {
  readonly assets: readonly Entry[];
  /** Not all of them are here. */
  readonly hasMoreAssets: boolean;
  /** With steps that the log does not hold. */
  readonly decisions: readonly Entry[];
  readonly hasMoreDecisions: boolean;
}

interface Question {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  readonly selection: Selection;
  /** Now, as text that sorts. */
  readonly at: string;
}

export const readSubjects = async (views: ViewStore, question: Question): Promise<Subjects> => {
  const assets = await firstOf(assetEntries(views, question));
  const decisions = await firstOf(lackingDecisions(views, question));
  return {
    assets: assets.entries,
    hasMoreAssets: assets.hasMore,
    decisions: decisions.entries,
    hasMoreDecisions: decisions.hasMore,
  };
};

const firstOf = async (
  entries: AsyncIterable<Entry>,
): Promise<{ readonly entries: readonly Entry[]; readonly hasMore: boolean }> => {
  const found: Entry[] = [];
  for await (const entry of entries) {
    if (found.length === EVIDENCE_SUMMARY_ROWS_MAX) return { entries: found, hasMore: true };
    found.push(entry);
  }
  return { entries: found, hasMore: false };
};

async function* assetEntries(
  views: ViewStore,
  { tenant, filter, selection, at }: Question,
): AsyncGenerator<Entry> {
  if (filter.assetId === undefined && selection.case === undefined) {
    for await (const row of listRows(views, tenant, assetList, { where: [], pageRows: PAGE_ROWS_MAX }))
      yield assetEntry(row, at);
    return;
  }
  const named = selection.case?.is.facts.map(({ asset }) => asset) ?? [];
  const ids = filter.assetId === undefined ? [...new Set(named)] : [filter.assetId];
  for (const id of ids) {
    const row = await findAsset(views, tenant, id);
    if (row) yield assetEntry(row, at);
  }
}

async function* lackingDecisions(
  views: ViewStore,
  { tenant, filter, selection, at }: Question,
): AsyncGenerator<Entry> {
  const where =
    filter.assetId === undefined
      ? []
      : [{ kind: "equals", column: "asset_id", value: filter.assetId } as const];
  const rows: AsyncIterable<Row> | Iterable<Row> = selection.case
    ? decisionsRegister.rowsOf(selection.case)
    : listRows(views, tenant, decisionList, { where, pageRows: PAGE_ROWS_MAX });
  for await (const row of rows) {
    const entry = entryOf(decisionList, row, at);
    if (Array.isArray(entry.missing) && entry.missing.length > 0) yield entry;
  }
}
