/** The subjects of a bundle: its assets with the persons responsible for them, and the decisions with steps missing in the log. */
import { EVIDENCE_SUMMARY_ROWS_MAX, PART_ROWS_MAX } from "../limits.ts";
import { assetEntry, assetList, findAsset } from "../projections/assets/queries.ts";
import type { FoundCase } from "../projections/cases/queries.ts";
import { decisionList, decisionsRegister } from "../projections/cases/registers/decisions.ts";
import { entryOf, listRows } from "../projections/list.ts";
import type { Row } from "../views/tables.ts";
import type { ViewStore } from "../views/view-store.ts";

export type Entry = Readonly<Record<string, unknown>>;

export interface Subjects {
  readonly assets: readonly Entry[];
  /** The list is not complete. */
  readonly hasMoreAssets: boolean;
  /** Decisions with missing steps. */
  readonly decisions: readonly Entry[];
  /** The list is not complete. */
  readonly hasMoreDecisions: boolean;
}

export const NO_SUBJECTS: Subjects = {
  assets: [],
  hasMoreAssets: false,
  decisions: [],
  hasMoreDecisions: false,
};

type Views = Pick<ViewStore, "load" | "select">;

interface Question {
  readonly tenant: string;
  readonly assetId: string | undefined;
  /** The asset or case, if the bundle is about one. */
  readonly case: FoundCase | undefined;
  /** The current time, as text that sorts by time. */
  readonly at: string;
}

export const readSubjects = async (views: Views, question: Question): Promise<Subjects> => {
  const assets = await firstOf(assetEntries(views, question));
  const lacking = await firstOf(lackingDecisions(views, question));
  return {
    assets: assets.found,
    hasMoreAssets: assets.hasMore,
    decisions: lacking.found,
    hasMoreDecisions: lacking.hasMore,
  };
};

const firstOf = async <Item>(
  items: AsyncIterable<Item>,
): Promise<{ readonly found: readonly Item[]; readonly hasMore: boolean }> => {
  const found: Item[] = [];
  for await (const item of items) {
    if (found.length === EVIDENCE_SUMMARY_ROWS_MAX) return { found, hasMore: true };
    found.push(item);
  }
  return { found, hasMore: false };
};

async function* assetEntries(
  views: Views,
  { tenant, assetId, case: found, at }: Question,
): AsyncGenerator<Entry> {
  if (assetId === undefined && found === undefined) {
    for await (const row of listRows(views, tenant, assetList, { where: [], pageRows: PART_ROWS_MAX }))
      yield assetEntry(row, at);
    return;
  }
  const named = found?.is.facts.map(({ asset }) => asset) ?? [];
  const ids = assetId === undefined ? [...new Set(named)] : [assetId];
  for (const id of ids) {
    const row = await findAsset(views, tenant, id);
    if (row) yield assetEntry(row, at);
  }
}

async function* lackingDecisions(
  views: Views,
  { tenant, assetId, case: found, at }: Question,
): AsyncGenerator<Entry> {
  const where =
    assetId === undefined ? [] : [{ kind: "equals", column: "asset_id", value: assetId } as const];
  const rows: AsyncIterable<Row> | Iterable<Row> = found
    ? decisionsRegister.rowsOf(found)
    : listRows(views, tenant, decisionList, { where, pageRows: PART_ROWS_MAX });
  for await (const row of rows) {
    if (row.steps === "[]") continue;
    const entry = entryOf(decisionList, row, at);
    if (Array.isArray(entry.missing) && entry.missing.length > 0) yield entry;
  }
}
