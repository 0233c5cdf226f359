/** How many events there were, by whatever is asked for. */

import type { Row } from "../../views/tables.ts";
import { tenantTotals } from "../../views/tenant-query.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { ACTIVITY, DAY_OF_ALL } from "./tables.ts";

export const ACTIVITY_GROUPS = ["start", "asset_id", "event_group", "event_type", "risk_tier"] as const;
export type ActivityGroup = (typeof ACTIVITY_GROUPS)[number];

export interface ActivityQuestion {
  readonly bucket: "hour" | "day";
  readonly groupBy: readonly ActivityGroup[];
  /** Inside; a prefix of RFC 3339 as `start` has it. */
  readonly from: string;
  /** Outside. */
  readonly to: string;
  readonly assetId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly eventGroup?: string | undefined;
  readonly rowsMax: number;
}

export const activityQuery = (tenant: string, question: ActivityQuestion) => {
  const { bucket, groupBy, from, to, assetId, eventType, eventGroup, rowsMax } = question;
  const equals = (column: "asset_id" | "event_type" | "event_group", value: string | undefined) =>
    value === undefined ? [] : [{ kind: "equals", column, value } as const];
  const isOfAll = bucket === "day" && assetId === undefined && !groupBy.includes("asset_id");
  return tenantTotals({
    tenant,
    table: ACTIVITY,
    where: [
      { kind: "equals", column: "bucket", value: isOfAll ? DAY_OF_ALL : bucket },
      { kind: "range", column: "start", from, to },
      ...equals("asset_id", assetId),
      ...equals("event_type", eventType),
      ...equals("event_group", eventGroup),
    ],
    groupBy,
    sums: ["events"],
    rowsMax,
  });
};

export const readActivity = (
  views: ViewStore,
  tenant: string,
  question: ActivityQuestion,
): Promise<readonly Row[]> => views.select(activityQuery(tenant, question));
