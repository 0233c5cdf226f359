/** In which years an asset was audited. */
import { BIAS_AUDIT } from "../../obligations/bias-audit.ts";
import { type Row, rowText } from "../../views/tables.ts";
import { type TenantQuery, tenantList } from "../../views/tenant-query.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { ASSESSMENTS } from "../assessments/tables.ts";
import { AUDITS } from "./tables.ts";

export interface BiasAudit {
  readonly eventId: string;
  /** When it was completed, as text that sorts. */
  readonly at: string;
  readonly validUntil: string | undefined;
}

/** The newest ones, newest first. */
export const findBiasAudits = async (
  views: Pick<ViewStore, "load" | "select">,
  tenant: string,
  { assetId, rowsMax }: { readonly assetId: string; readonly rowsMax: number },
): Promise<readonly BiasAudit[]> => {
  const rows = await views.select(auditsQuery(tenant, { assetId, rowsMax }));
  const unsaid = rows.filter(({ assessment_type }) => assessment_type === null);
  // What it is may have been said when it began.
  const known = await views.load(
    ASSESSMENTS,
    [...new Set(unsaid.map((row) => rowText(row, "assessment_id")))].map((assessment_id) => ({
      tenant,
      assessment_id,
    })),
  );
  const types = new Map(known.map((row) => [row.assessment_id, row.assessment_type]));
  const typeOf = ({ assessment_type, assessment_id }: Row) =>
    assessment_type ?? types.get(assessment_id ?? "");
  return rows
    .filter((row) => typeOf(row) === BIAS_AUDIT.assessmentType)
    .map((row) => ({
      eventId: rowText(row, "event_id"),
      at: rowText(row, "at"),
      validUntil: row.valid_until === null ? undefined : rowText(row, "valid_until"),
    }));
};

/** Apart so that a test can ask the database for its plan. */
export const auditsQuery = (
  tenant: string,
  { assetId, rowsMax }: { readonly assetId: string; readonly rowsMax: number },
): TenantQuery =>
  tenantList({
    tenant,
    table: AUDITS,
    columns: ["at", "event_id", "assessment_id", "assessment_type", "valid_until"],
    where: [{ kind: "equals", column: "asset_id", value: assetId }],
    orderBy: ["at", "event_id"],
    order: "desc",
    rowsMax,
  });
