/** Coverage as the service answers it, of records in a database, and what must be true of every entry. */
import { expect } from "bun:test";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { PAGE_ROWS_MAX } from "../../src/limits.ts";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { type CoverageEntry, coverageEntries, readCoverage } from "../../src/views/coverage/coverage.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { coverageAtTime, type History } from "../support/histories/known-history.ts";

export const COVERAGE_VIEWS = PROJECTIONS.filter(({ name }) =>
  ["events", "assets", "cases", "assessments", "audits", "outcomes"].includes(name),
);

/** Made from an empty view, group by group. */
export const project = async (
  views: ViewStore,
  messages: readonly StoredMessage[],
  groupSize: number,
): Promise<void> => {
  for (const view of COVERAGE_VIEWS) {
    if ((await views.position(view.name)) > 0) await views.drop(view.name);
    await views.open(view);
  }
  for (let from = 0; from < messages.length; ) {
    const group = messages.slice(from, from + groupSize);
    const outcome = await applyBatch({
      projections: COVERAGE_VIEWS,
      messages: group,
      load: views.load,
      now: "",
    });
    expect(outcome.deadLetters).toEqual([]);
    const to = from + group.length;
    expect(await views.commit({ views: COVERAGE_VIEWS, from, to, ...outcome })).toEqual({
      kind: "committed",
    });
    from = to;
  }
};

/** The rows of all pages. */
export const coverageAt = async (
  views: ViewStore,
  tenant: string,
  now: string,
  limit = PAGE_ROWS_MAX,
): Promise<readonly CoverageEntry[]> => {
  const entries: CoverageEntry[] = [];
  for (let cursor: string | undefined, isEnd = false; !isEnd; ) {
    const page = await readCoverage(views, tenant, { anyOf: [[]], order: "asc", limit, cursor });
    if (page.kind !== "page") throw new Error("a page has its own cursor");
    const at = { rules: STANDARD_RULES, now: new Date(now) };
    entries.push(...(await coverageEntries(views, tenant, page.rows, at)));
    cursor = page.nextCursor ?? undefined;
    isEnd = cursor === undefined;
  }
  return entries;
};

export const figuresOf = (entries: readonly CoverageEntry[]) =>
  Object.fromEntries(
    entries.map(({ asset_id, law, duty, due, in_time, late, pending }) => [
      `${asset_id} ${law} ${duty}`,
      { due, in_time, late, pending },
    ]),
  );

/** What follows from the known counts, the known audits and the time. The audits' years end long before or after midnight in New York. */
export const expectedBeside = (
  { asset_id, law, duty }: CoverageEntry,
  history: Pick<History, "coverage" | "audits">,
  now: string,
): Partial<CoverageEntry> => {
  const known = coverageAtTime(history.coverage, now).get(`${asset_id} ${law} ${duty}`);
  if (!known) throw new Error(`${asset_id} ${law} ${duty} is not known`);
  const { due, in_time, late, pending } = known;
  const unmet = due - in_time - late;
  if (due === 0 && pending > 0) return { unmet, ratio: null, state: "pending" };
  if (due === 0)
    return { unmet, ratio: null, state: "not_applicable", last_evidence_at: null, example_event_ids: [] };
  const ratio = in_time / due;
  const isAudit = duty === "bias_audit";
  const audits = history.audits.filter((audit) => isAudit && audit.asset_id === asset_id);
  if (isAudit && audits.every(({ last }) => last < now.slice(0, 10))) return { unmet, ratio, state: "stale" };
  const none = { last_evidence_at: null, example_event_ids: [] };
  if (in_time === due) return { unmet, ratio, state: "covered" };
  if (in_time + late > 0) return { unmet, ratio, state: "partial" };
  return { unmet, ratio, state: "missing", ...(!isAudit && none) };
};
