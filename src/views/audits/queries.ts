/** The bias audits of an asset. */
import { setImmediate as otherWork } from "node:timers/promises";
import { AUDIT_ROWS_PER_READ } from "../kit/limits.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import { type AssessmentEvent, type BiasAudit, completedAudits } from "./completed-audits.ts";
import { ASSESSMENT_EVENTS, AUDITED } from "./tables.ts";

/** All of them, because a decision may be of any year. */
export const findBiasAudits = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  assetId: string,
): Promise<readonly BiasAudit[]> => {
  const audits: BiasAudit[] = [];
  const audited = pages(views, ["assessment_id"], (after) => auditedQuery(tenant, assetId, after));
  for await (const assessments of audited) {
    const ids = assessments.map((row) => rowText(row, "assessment_id"));
    const events = pages(views, EVENT_ORDER, (after) => assessmentsQuery(tenant, ids, after));
    const byAssessment = new Map<string, AssessmentEvent[]>(ids.map((id) => [id, []]));
    for await (const rows of events)
      for (const row of rows) byAssessment.get(rowText(row, "assessment_id"))?.push(eventOf(row));
    for (const [id, said] of byAssessment)
      for (const audit of completedAudits(said, { isNamed: id !== assetId }))
        if (audit.assetId === assetId) audits.push(audit);
  }
  return audits;
};

const eventOf = (row: Row): AssessmentEvent => ({
  eventId: rowText(row, "event_id"),
  at: rowText(row, "at"),
  assetId: rowText(row, "asset_id"),
  isStarted: rowInteger(row, "is_started") === 1,
  isCompleted: rowInteger(row, "is_completed") === 1,
  type: row.assessment_type === null ? undefined : rowText(row, "assessment_type"),
  validUntil: row.valid_until === null ? undefined : rowText(row, "valid_until"),
});

/** Each page begins where the one before ended. */
async function* pages(
  views: Pick<ViewStore, "select">,
  orderBy: readonly string[],
  query: (after: readonly string[] | undefined) => TenantQuery,
): AsyncGenerator<readonly Row[]> {
  for (let after: readonly string[] | undefined; ; ) {
    const rows = await views.select(query(after));
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    if (rows.length < AUDIT_ROWS_PER_READ) return;
    // SQLite answers synchronously, and an asset may have any number of audits.
    await otherWork();
    after = orderBy.map((name) => rowText(last, name));
  }
}

/** Separate, like the next one, so that a test can ask the database for its plan. */
export const auditedQuery = (
  tenant: string,
  assetId: string,
  /** The last row of the previous page. */
  after?: readonly string[] | undefined,
): TenantQuery =>
  tenantList({
    tenant,
    after,
    table: AUDITED,
    columns: ["assessment_id"],
    where: [{ kind: "equals", column: "asset_id", value: assetId }],
    orderBy: ["assessment_id"],
    order: "asc",
    rowsMax: AUDIT_ROWS_PER_READ,
  });

const EVENT_ORDER = ["assessment_id", "at", "event_id"] as const;

export const assessmentsQuery = (
  tenant: string,
  assessmentIds: readonly string[],
  after?: readonly string[] | undefined,
): TenantQuery =>
  tenantList({
    tenant,
    after,
    table: ASSESSMENT_EVENTS,
    columns: [...EVENT_ORDER, "asset_id", "is_started", "is_completed", "assessment_type", "valid_until"],
    where: [{ kind: "one_of", column: "assessment_id", values: assessmentIds }],
    orderBy: EVENT_ORDER,
    order: "asc",
    rowsMax: AUDIT_ROWS_PER_READ,
  });
