/** Coverage: the counts of all tables that count evidence of duties, as one list, and what an answer says of each duty. */
import { strict as assert } from "node:assert";
import { setImmediate as otherWork } from "node:timers/promises";
import { timeKey, WHOLE_SECONDS } from "../../event/formats.ts";
import { auditedDates, BIAS_AUDIT, dateInNewYork, joinedDates } from "../../law/obligations/bias-audit.ts";
import { clauseOf, DUTY_NAMES } from "../../law/obligations/deadline-table.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { COVERAGE_EXAMPLES_MAX } from "../../limits.ts";
import { ASSET_DUTIES, ASSETS_VIEW } from "../assets/tables.ts";
import type { BiasAudit } from "../audits/queries.ts";
import { COVERAGE, COVERAGE_OPEN, LL144_USES } from "../cases/registers/registers.ts";
import { CASES_VIEW } from "../cases/tables.ts";
import { findExpired } from "../events/earlier.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
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
import { LABELING } from "../outcomes/evolve.ts";
import type { Condition } from "../store/conditions.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import { type TenantQuery, tenantTotals } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import type { CoverageCount } from "./duty-counts.ts";
import { createEvidence, type Evidence } from "./evidence.ts";
import { isRegistered } from "./legal-bases.ts";

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

/** Projections whose rows make up an answer; evidence of audits is in one of its own, and only that of events knows what expired. */
export const COVERAGE_VIEWS = [...COVERAGE_LISTS.map(({ view }) => view), "audits", EVENTS_VIEW];

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

export const COVERAGE_STATES = [
  "covered",
  "partial",
  "missing",
  "stale",
  "pending",
  "not_applicable",
] as const;
export type CoverageState = (typeof COVERAGE_STATES)[number];

export const COVERAGE_WARNINGS = ["unregistered_legal_basis"] as const;
export type CoverageWarning = (typeof COVERAGE_WARNINGS)[number];

/** At the time of reading. What is not due yet counts as pending and nowhere else. */
interface Counts extends Pick<CoverageCount, "in_time" | "late" | "unmet" | "waived"> {
  readonly due: number;
  readonly pending: number;
}

export interface CoverageEntry extends Counts, Pick<CoverageCount, "asset_id" | "law" | "duty"> {
  readonly ratio: number | null;
  readonly state: CoverageState;
  readonly clause: string | null;
  readonly last_evidence_at: string | null;
  readonly example_event_ids: readonly string[];
  readonly warnings: readonly CoverageWarning[];
}

export const coverageEntries = async (
  views: Pick<ViewStore, "load" | "select">,
  tenant: string,
  rows: readonly CoverageCount[],
  { rules, now }: { readonly rules: Rules; readonly now: Date },
): Promise<readonly CoverageEntry[]> => {
  const evidence = createEvidence(views, tenant, rules);
  const at = timeKey(`${now.toISOString().slice(0, WHOLE_SECONDS)}Z`);
  const today = dateInNewYork(at);
  const found: Found[] = [];
  for (const row of rows) {
    const audits = isOfBiasAudit(row) ? await evidence.audits(row.asset_id) : undefined;
    const count = await dueCounts(views, audits ? await withAudits(views, row, audits) : row, at);
    const hasEvidence = count.in_time + count.late > 0 || (audits?.length ?? 0) > 0;
    const isStale = audits !== undefined && audits.length > 0 && !isValid(audits, today);
    found.push({ row, count, isStale, newest: hasEvidence ? await evidence.of(row) : [] });
  }
  const expired = await findExpiredAmong(views, tenant, found);
  return found.map((each) => coverageEntry(each, expired, rules));
};

/** Mostly none of the newest has expired, and those behind them need not be checked. */
const findExpiredAmong = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  found: readonly Found[],
): Promise<ReadonlySet<string>> => {
  const idsOf = ({ newest }: Found): readonly string[] => newest.map(({ eventId }) => eventId);
  const shownOf = (each: Found): readonly string[] => idsOf(each).slice(0, COVERAGE_EXAMPLES_MAX);
  const expired = await findExpired(views, tenant, found.flatMap(shownOf));
  const lacking = found.filter((each) => shownOf(each).some((id) => expired.has(id)));
  return lacking.length === 0 ? expired : findExpired(views, tenant, lacking.flatMap(idsOf));
};

const dueCounts = async (
  views: Pick<ViewStore, "select">,
  row: CoverageCount,
  at: string,
): Promise<Counts> => {
  const { in_time, late, open, waived } = row;
  const [found] = open === 0 ? [] : await views.select(overdueQuery(row, at));
  // An obligation may be met between the two queries.
  const overdue = Math.min(open, found ? rowInteger(found, "obligations") : 0);
  const unmet = row.unmet + overdue;
  return { due: in_time + late + unmet, in_time, late, unmet, pending: open - overdue, waived };
};

export const overdueQuery = (
  { tenant, asset_id, law, duty }: Pick<CoverageCount, "tenant" | "asset_id" | "law" | "duty">,
  at: string,
): TenantQuery =>
  tenantTotals({
    tenant,
    table: COVERAGE_OPEN,
    where: [
      { kind: "equals", column: "asset_id", value: asset_id },
      { kind: "equals", column: "law", value: law },
      { kind: "equals", column: "duty", value: duty },
      { kind: "range", column: "due_at", to: at },
    ],
    groupBy: ["asset_id"],
    sums: ["obligations"],
    counted: { column: "obligations", by: "due_at", except: [] },
    rowsMax: 1,
  });

interface Found {
  readonly row: CoverageCount;
  readonly count: Counts;
  readonly isStale: boolean;
  readonly newest: readonly Evidence[];
}

const coverageEntry = (
  { row: { asset_id, law, duty }, count, isStale, newest }: Found,
  expired: ReadonlySet<string>,
  { deadlines }: Rules,
): CoverageEntry => {
  const [last] = newest;
  const examples = newest.map(({ eventId }) => eventId).filter((id) => !expired.has(id));
  return {
    asset_id,
    law,
    duty,
    ...count,
    ratio: count.due === 0 ? null : count.in_time / count.due,
    state: stateOf(count, isStale),
    clause: clauseOf(deadlines, law, duty),
    last_evidence_at: last === undefined ? null : `${last.at}Z`,
    example_event_ids: examples.slice(0, COVERAGE_EXAMPLES_MAX),
    // Kept, because a law may be new; with a warning, because it may be misspelt.
    warnings: isRegistered(law) ? [] : ["unregistered_legal_basis"],
  };
};

/** Stale takes precedence: if the evidence is no longer valid, new evidence is needed, however much was covered. */
const stateOf = (
  { due, in_time, late, pending }: Pick<Counts, "due" | "in_time" | "late" | "pending">,
  isStale: boolean,
): CoverageState => {
  if (due === 0) return pending === 0 ? "not_applicable" : "pending";
  if (isStale) return "stale";
  if (in_time === due) return "covered";
  return in_time + late === 0 ? "missing" : "partial";
};

const isOfBiasAudit = ({ law, duty }: CoverageCount): boolean =>
  law === BIAS_AUDIT.law && duty === BIAS_AUDIT.duty;

const isValid = (audits: readonly BiasAudit[], today: string): boolean =>
  audits.some(({ at, validUntil }) => auditedDates(at, validUntil).last >= today);

const withAudits = async (
  views: Pick<ViewStore, "select">,
  count: CoverageCount,
  audits: readonly BiasAudit[],
): Promise<CoverageCount> => {
  const { tenant, asset_id: assetId, required } = count;
  let decisions = 0;
  for (const dates of joinedDates(audits.map(({ at, validUntil }) => auditedDates(at, validUntil)))) {
    const [found] = await views.select(usesQuery(tenant, assetId, dates));
    decisions += found ? rowInteger(found, "decisions") : 0;
  }
  // A decision may arrive between the two queries.
  const inTime = Math.min(decisions, required);
  return { ...count, in_time: inTime, unmet: required - inTime };
};

export const usesQuery = (
  tenant: string,
  assetId: string,
  { first, last }: { readonly first: string; readonly last: string },
): TenantQuery => {
  assert(first <= last, "the first day is not behind the last");
  return tenantTotals({
    tenant,
    table: LL144_USES,
    // `~` sorts after every character of a date, so the last day is included.
    where: [
      { kind: "equals", column: "asset_id", value: assetId },
      { kind: "range", column: "day", from: first, to: `${last}~` },
    ],
    groupBy: ["asset_id"],
    sums: ["decisions"],
    counted: { column: "decisions", by: "day", except: [] },
    rowsMax: 1,
  });
};
