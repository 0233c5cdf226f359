/** The rows of all tables that count evidence of duties as one list, in one order, page by page. */
import { setImmediate as otherWork } from "node:timers/promises";
import { DUTY_NAMES } from "../../law/obligations/duties.ts";
import { CHECKED_ROWS_PER_READ, COUNT_EXACT_MAX } from "../../limits.ts";
import { ASSET_DUTIES, ASSETS_VIEW } from "../assets/tables.ts";
import { COVERAGE } from "../cases/registers/coverage.ts";
import { CASES_VIEW } from "../cases/tables.ts";
import { type Count, type List, listQuery, type Page } from "../kit/list.ts";
import { LABELING } from "../outcomes/tables.ts";
import type { Condition } from "../store/conditions.ts";
import { type Place, readCursor, writeCursor } from "../store/cursor.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import { compareStored } from "../store/text.ts";
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

export const readCoverage = async (
  views: ViewStore,
  tenant: string,
  { anyOf, order, limit, cursor }: Page & { readonly anyOf: Alternatives },
): Promise<CoveragePage> => {
  const scope = JSON.stringify([tenant, "coverage", anyOf, order]);
  const start = cursor === undefined ? undefined : readCursor(cursor, scope);
  if (start?.kind === "invalid_cursor" || !isPlace(start?.place)) return { kind: "invalid_cursor" };
  // Rows that one list leaves out come after more than `limit` rows, none of which is missing.
  const all = await countsAfter(views, tenant, { anyOf, order, after: start?.place, rowsMax: limit + 1 });
  const rows = all.slice(0, limit);
  const last = all.length > limit ? rows.at(-1) : undefined;
  const place = last && ORDER.map((name) => last[name]);
  return { kind: "page", rows, nextCursor: place ? writeCursor({ place, scope }) : null };
};

/** A row satisfies one of these. */
type Alternatives = readonly (readonly Condition[])[];

const countsAfter = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  parts: {
    readonly anyOf: Alternatives;
    readonly order: Page["order"];
    readonly after: Place | undefined;
    readonly rowsMax: number;
  },
): Promise<readonly CoverageCount[]> => {
  const { anyOf, ...page } = parts;
  const found: Row[] = [];
  for (const where of anyOf) {
    for (const list of COVERAGE_LISTS)
      found.push(...(await views.select(listQuery(tenant, list, { ...page, where }))));
    if (anyOf.length > 1) await otherWork();
  }
  return together(found, tenant, page.order);
};

/** Counts up to COUNT_EXACT_MAX. */
export const countCoverage = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  anyOf: Alternatives,
): Promise<Count> => {
  const limit = CHECKED_ROWS_PER_READ;
  let value = 0;
  for (let after: Place | undefined; ; ) {
    const rows = await countsAfter(views, tenant, { anyOf, order: "asc", after, rowsMax: limit + 1 });
    value += Math.min(rows.length, limit);
    if (value > COUNT_EXACT_MAX) return { value: COUNT_EXACT_MAX, exact: false };
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    if (last === undefined) return { value, exact: true };
    after = ORDER.map((name) => last[name]);
    await otherWork();
  }
};

/** Anybody may make a cursor, because it is not secret, even one with other content. */
const isPlace = (place: Place | undefined): boolean =>
  place === undefined || (place.length === ORDER.length && place.every((value) => typeof value === "string"));

/** In the order of the keys, each key once. */
const together = (found: readonly Row[], tenant: string, order: Page["order"]): readonly CoverageCount[] => {
  const sorted = found
    .map((row): CoverageCount => countIn(row, tenant))
    .sort((one, other) => (order === "asc" ? compare(one, other) : compare(other, one)));
  const rows: CoverageCount[] = [];
  for (const row of sorted) {
    const before = rows.at(-1);
    if (before === undefined || compare(before, row) !== 0) rows.push(row);
    else rows[rows.length - 1] = sum(before, row);
  }
  return rows;
};

const countIn = (row: Row, tenant: string): CoverageCount => ({
  tenant,
  asset_id: rowText(row, "asset_id"),
  law: rowText(row, "law"),
  duty: rowText(row, "duty"),
  required: rowInteger(row, "required"),
  in_time: rowInteger(row, "in_time"),
  late: rowInteger(row, "late"),
  unmet: rowInteger(row, "unmet"),
  // Only the counts of cases have clocks.
  open: row.open === undefined ? 0 : rowInteger(row, "open"),
  waived: row.waived === undefined ? 0 : rowInteger(row, "waived"),
});

const sum = (one: CoverageCount, other: CoverageCount): CoverageCount => ({
  ...one,
  required: one.required + other.required,
  in_time: one.in_time + other.in_time,
  late: one.late + other.late,
  unmet: one.unmet + other.unmet,
  open: one.open + other.open,
  waived: one.waived + other.waived,
});

const compare = (one: CoverageCount, other: CoverageCount): number => {
  for (const name of ORDER) if (one[name] !== other[name]) return compareStored(one[name], other[name]);
  return 0;
};
