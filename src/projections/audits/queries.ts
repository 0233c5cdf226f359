/** In which years an asset was audited. */
import { BIAS_AUDIT } from "../../obligations/bias-audit.ts";
import { type Row, rowText } from "../../views/tables.ts";
import { type TenantQuery, tenantList } from "../../views/tenant-query.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { ASSESSMENT_TYPES, AUDITS } from "./tables.ts";

export interface BiasAudit {
  readonly eventId: string;
  /** When it was completed, as text that sorts. */
  readonly at: string;
  readonly validUntil: string | undefined;
}

/** The newest ones, newest first. */
export const findBiasAudits = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  { assetId, rowsMax }: { readonly assetId: string; readonly rowsMax: number },
): Promise<readonly BiasAudit[]> => {
  const audits: BiasAudit[] = [];
  // Many of those that do not say what they are may be none.
  for await (const row of completed(views, tenant, { assetId, pageRows: rowsMax })) {
    if (audits.length === rowsMax) break;
    const [at, assessmentId] = [rowText(row, "at"), rowText(row, "assessment_id")];
    // What it is may have been said when it began.
    const [said] =
      row.assessment_type === null ? await views.select(typeSaidQuery(tenant, { assessmentId, at })) : [row];
    if (said?.assessment_type !== BIAS_AUDIT.assessmentType) continue;
    const validUntil = row.valid_until === null ? undefined : rowText(row, "valid_until");
    audits.push({ eventId: rowText(row, "event_id"), at, validUntil });
  }
  return audits;
};

/** The newest first, page by page. */
async function* completed(
  views: Pick<ViewStore, "select">,
  tenant: string,
  { assetId, pageRows }: { readonly assetId: string; readonly pageRows: number },
): AsyncGenerator<Row> {
  let after: readonly string[] | undefined;
  for (;;) {
    const rows = await views.select(auditsQuery(tenant, { assetId, rowsMax: pageRows, after }));
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return;
    after = [rowText(last, "at"), rowText(last, "event_id")];
  }
}

/** What was said last until then. */
export const typeSaidQuery = (
  tenant: string,
  { assessmentId, at }: { readonly assessmentId: string; readonly at: string },
): TenantQuery =>
  tenantList({
    tenant,
    table: ASSESSMENT_TYPES,
    columns: ["assessment_type"],
    where: [
      { kind: "equals", column: "assessment_id", value: assessmentId },
      { kind: "range", column: "at", to: `${at}${BEHIND_ITSELF}` },
    ],
    orderBy: ["at", "event_id"],
    order: "desc",
    rowsMax: 1,
  });

/** Behind a time as text: what sorts after it and before any later time. */
const BEHIND_ITSELF = " ";

/** Apart so that a test can ask the database for its plan. */
export const auditsQuery = (
  tenant: string,
  {
    assetId,
    rowsMax,
    after,
  }: {
    readonly assetId: string;
    readonly rowsMax: number;
    /** The last of the page before. */
    readonly after?: readonly string[] | undefined;
  },
): TenantQuery =>
  tenantList({
    tenant,
    after,
    table: AUDITS,
    columns: ["at", "event_id", "assessment_id", "assessment_type", "valid_until"],
    where: [{ kind: "equals", column: "asset_id", value: assetId }],
    orderBy: ["at", "event_id"],
    order: "desc",
    rowsMax,
  });
