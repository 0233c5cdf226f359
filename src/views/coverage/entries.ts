/** What an answer says of a duty: its counts, its state, and examples of evidence. */
import { strict as assert } from "node:assert";
import { timeKey, WHOLE_SECONDS } from "../../event/formats.ts";
import { auditedDates, BIAS_AUDIT, dateInNewYork, joinedDates } from "../../law/obligations/bias-audit.ts";
import { clauseOf } from "../../law/obligations/duties.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { COVERAGE_EXAMPLES_MAX } from "../../limits.ts";
import type { BiasAudit } from "../audits/queries.ts";
import { COVERAGE_OPEN, LL144_USES } from "../cases/registers/coverage.ts";
import { findExpired } from "../events/earlier.ts";
import { rowInteger } from "../store/tables.ts";
import { type TenantQuery, tenantTotals } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import type { CoverageCount } from "./duty-counts.ts";
import { createEvidence, type Evidence } from "./evidence.ts";
import { isRegistered } from "./legal-bases.ts";

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
    const count = await countsOf(views, audits ? await withAudits(views, row, audits) : row, at);
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

/** Of those that are open, some have run out by now. */
const countsOf = async (
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
export const stateOf = (
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

/** Decisions made during a valid year count as in time. */
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
