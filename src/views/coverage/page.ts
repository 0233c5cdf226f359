/** The rows of all tables that count evidence of duties as one list, in one order, page by page. */
import { setImmediate as otherWork } from "node:timers/promises";
import { DUTY_NAMES } from "../../law/obligations/duties.ts";
import { ASSET_DUTIES, ASSETS_VIEW } from "../assets/tables.ts";
import { COVERAGE } from "../cases/registers/coverage.ts";
import { CASES_VIEW } from "../cases/tables.ts";
import {
  byPlace,
  type Count,
  countRows,
  type List,
  listQuery,
  type Page,
  type RowSource,
  readPage,
} from "../kit/list.ts";
import { LABELING } from "../outcomes/tables.ts";
import type { Condition } from "../store/conditions.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import type { CoverageCount } from "./duty-counts.ts";

const ORDER = ["asset_id", "law", "duty"] as const;

const LIST = { orderBy: ORDER, filters: ORDER } as const;
/** A late event may cancel what an earlier one counted: a row that counts nothing again is treated as if it did not exist. */
const COUNTED: Pick<List, "always"> = { always: [{ kind: "range", column: "required", from: 1 }] };

/** The counts of cases, of the asset register and of outcomes. A duty may be in several tables: then they are added up. */
export const COVERAGE_LISTS: readonly List[] = [
  { ...LIST, ...COUNTED, view: CASES_VIEW, table: COVERAGE },
  { ...LIST, ...COUNTED, view: "outcomes", table: LABELING },
  { ...LIST, view: ASSETS_VIEW, table: ASSET_DUTIES },
];

/** Projections whose rows make up an answer; evidence of audits is in a projection of its own. */
export const COVERAGE_VIEWS: readonly string[] = [...COVERAGE_LISTS.map(({ view }) => view), "audits"];

export const COVERAGE_FILTERS: Pick<List, "filters" | "values"> = {
  filters: ORDER,
  values: { duty: DUTY_NAMES },
};

export type CoveragePage =
  | { readonly kind: "page"; readonly rows: readonly CoverageCount[]; readonly nextCursor: string | null }
  | { readonly kind: "invalid_cursor" };

type Alternatives = readonly (readonly Condition[])[];

export const readCoverage = async (
  views: ViewStore,
  tenant: string,
  { anyOf, order, limit, cursor }: Page & { readonly anyOf: Alternatives },
): Promise<CoveragePage> => {
  const scope = JSON.stringify([tenant, "coverage", anyOf, order]);
  const page = await readPage(countsIn(views, tenant, anyOf, order), { limit, cursor, scope });
  return page.kind === "page" ? { ...page, rows: page.rows.map((row) => countIn(row, tenant)) } : page;
};

export const countCoverage = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  anyOf: Alternatives,
): Promise<Count> => countRows([countsIn(views, tenant, anyOf, "asc")]);

const countsIn = (
  views: Pick<ViewStore, "select">,
  tenant: string,
  anyOf: Alternatives,
  order: Page["order"],
): RowSource => ({
  orderBy: ORDER,
  isPlace: (place) => place.length === ORDER.length && place.every((value) => typeof value === "string"),
  read: async (after, rowsMax) => {
    const found: Row[] = [];
    for (const where of anyOf) {
      for (const list of COVERAGE_LISTS)
        found.push(...(await views.select(listQuery(tenant, list, { where, order, after, rowsMax }))));
      if (anyOf.length > 1) await otherWork();
    }
    // Rows that one list leaves out come after `rowsMax` rows, none of which is missing.
    return together(found, order).slice(0, rowsMax);
  },
});

const together = (found: readonly Row[], order: Page["order"]): readonly Row[] => {
  const compare = byPlace(ORDER, order);
  const rows: Row[] = [];
  for (const row of found.toSorted(compare)) {
    const before = rows.at(-1);
    if (before === undefined || compare(before, row) !== 0) rows.push(row);
    else
      rows[rows.length - 1] = { ...row, ...countsOf((name) => countOf(before, name) + countOf(row, name)) };
  }
  return rows;
};

const countsOf = (count: (name: Counted) => number) => ({
  required: count("required"),
  in_time: count("in_time"),
  late: count("late"),
  unmet: count("unmet"),
  open: count("open"),
  waived: count("waived"),
});

type Counted = "required" | "in_time" | "late" | "unmet" | "open" | "waived";

/** Only the counts of cases have clocks. */
const countOf = (row: Row, name: Counted): number => (row[name] === undefined ? 0 : rowInteger(row, name));

const countIn = (row: Row, tenant: string): CoverageCount => ({
  tenant,
  asset_id: rowText(row, "asset_id"),
  law: rowText(row, "law"),
  duty: rowText(row, "duty"),
  ...countsOf((name) => countOf(row, name)),
});
