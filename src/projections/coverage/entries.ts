/** What an answer says of a duty: its counts, its state, and examples of evidence. */
import { strict as assert } from "node:assert";
import { timeKey } from "../../event/formats.ts";
import { COVERAGE_EXAMPLES_MAX } from "../../limits.ts";
import { auditedDates, BIAS_AUDIT, dateInNewYork, joinedDates } from "../../obligations/bias-audit.ts";
import type { Rules } from "../../obligations/clocks.ts";
import { clauseOf } from "../../obligations/duties.ts";
import { rowInteger } from "../../views/tables.ts";
import { type TenantQuery, tenantTotals } from "../../views/tenant-query.ts";
import type { ViewStore } from "../../views/view-store.ts";
import type { BiasAudit } from "../audits/completed-audits.ts";
import { LL144_USES } from "../cases/registers/ll144-uses.ts";
import { findExpired } from "../events/earlier.ts";
import type { DutyCount } from "./duty-counts.ts";
import { createEvidence, type Evidence } from "./evidence.ts";
import { isRegistered } from "./legal-bases.ts";

export const COVERAGE_STATES = ["covered", "partial", "missing", "stale", "not_applicable"] as const;
export type CoverageState = (typeof COVERAGE_STATES)[number];

export const COVERAGE_WARNINGS = ["unregistered_legal_basis"] as const;
export type CoverageWarning = (typeof COVERAGE_WARNINGS)[number];

export interface CoverageEntry extends Omit<DutyCount, "tenant"> {
  /** In time divided by required; null if nothing is required. */
  readonly ratio: number | null;
  readonly state: CoverageState;
  readonly clause: string | null;
  /** RFC 3339; null if there is no evidence. */
  readonly last_evidence_at: string | null;
  readonly example_event_ids: readonly string[];
  readonly warnings: readonly CoverageWarning[];
}

export const coverageEntries = async (
  views: Pick<ViewStore, "load" | "select">,
  tenant: string,
  rows: readonly DutyCount[],
  { rules, now }: { readonly rules: Rules; readonly now: Date },
): Promise<readonly CoverageEntry[]> => {
  const evidence = createEvidence(views, tenant, rules);
  const today = dateInNewYork(timeKey(now.toISOString()));
  const found: Found[] = [];
  for (const row of rows) {
    const audits = isOfBiasAudit(row) ? await evidence.audits(row.asset_id) : undefined;
    const count = audits ? await withAudits(views, row, audits) : row;
    const hasEvidence = count.in_time + count.late > 0 || (audits?.length ?? 0) > 0;
    const isStale = audits !== undefined && audits.length > 0 && !isValid(audits, today);
    found.push({ count, isStale, newest: hasEvidence ? await evidence.of(row) : [] });
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

interface Found {
  readonly count: DutyCount;
  readonly isStale: boolean;
  /** Newest first. */
  readonly newest: readonly Evidence[];
}

const coverageEntry = (
  { count, isStale, newest }: Found,
  expired: ReadonlySet<string>,
  { deadlines }: Rules,
): CoverageEntry => {
  const { tenant: _, ...shown } = count;
  const [last] = newest;
  const examples = newest.map(({ eventId }) => eventId).filter((id) => !expired.has(id));
  return {
    ...shown,
    ratio: count.required === 0 ? null : count.in_time / count.required,
    state: stateOf(count, isStale),
    clause: clauseOf(deadlines, count.law, count.duty),
    last_evidence_at: last === undefined ? null : `${last.at}Z`,
    example_event_ids: examples.slice(0, COVERAGE_EXAMPLES_MAX),
    // Kept, because a law may be new; with a warning, because it may be misspelt.
    warnings: isRegistered(count.law) ? [] : ["unregistered_legal_basis"],
  };
};

/** Stale takes precedence: if the evidence is no longer valid, new evidence is needed, however much was covered. */
export const stateOf = (
  { required, in_time, late }: Pick<DutyCount, "required" | "in_time" | "late">,
  isStale: boolean,
): CoverageState => {
  if (required === 0) return "not_applicable";
  if (isStale) return "stale";
  if (in_time === required) return "covered";
  return in_time + late === 0 ? "missing" : "partial";
};

const isOfBiasAudit = ({ law, duty }: DutyCount): boolean =>
  law === BIAS_AUDIT.law && duty === BIAS_AUDIT.duty;

const isValid = (audits: readonly BiasAudit[], today: string): boolean =>
  audits.some(({ at, validUntil }) => auditedDates(at, validUntil).last >= today);

/** Decisions made during a valid year count as in time. */
const withAudits = async (
  views: Pick<ViewStore, "select">,
  count: DutyCount,
  audits: readonly BiasAudit[],
): Promise<DutyCount> => {
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

/** Separate so that a test can ask the database for its plan. */
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
