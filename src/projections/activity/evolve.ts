import { splitEventType } from "../../../streams/subjects.ts";
import type { RowInMaking, RowOf } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { ACTIVITY, DAY_OF_ALL } from "./tables.ts";

/** Characters of a time that name its hour and its day. */
const BUCKETS = [
  { bucket: "hour", characters: "2026-11-20T10".length },
  { bucket: "day", characters: "2026-11-20".length },
] as const;

/** One row for all events that are counted in it: the store would be asked for each. */
const evolve = (_states: unknown, events: readonly FirstEvent[]): readonly Write[] => {
  const rows = new Map<string, RowInMaking<typeof ACTIVITY>>();
  for (const { tenant, facts } of events) {
    const { assetId, eventType, riskTier, occurred } = facts;
    const rest = `${eventType.length} ${eventType} ${riskTier?.length} ${riskTier} ${assetId}`;
    for (const { bucket, characters } of BUCKETS) {
      const start = occurred.slice(0, characters);
      const name = `${tenant} ${start} ${rest}`;
      const known = rows.get(name);
      if (known) known.events++;
      else
        rows.set(name, {
          tenant,
          bucket,
          start,
          asset_id: assetId,
          event_group: splitEventType(eventType).group,
          event_type: eventType,
          risk_tier: riskTier ?? "",
          events: 1,
        });
    }
  }
  const counts = [...rows.values()];
  return [...counts, ...ofAllAssets(counts)].map((row) => ({ kind: "add", table: ACTIVITY, row }));
};

const ofAllAssets = (counts: readonly RowOf<typeof ACTIVITY>[]): readonly RowOf<typeof ACTIVITY>[] => {
  const rows = new Map<string, RowInMaking<typeof ACTIVITY>>();
  for (const row of counts) {
    if (row.bucket !== "day") continue;
    const { tenant, start, event_type: eventType, risk_tier: riskTier } = row;
    const name = `${tenant} ${start} ${eventType.length} ${eventType} ${riskTier}`;
    const known = rows.get(name);
    if (known) known.events += row.events;
    else rows.set(name, { ...row, bucket: DAY_OF_ALL, asset_id: "" });
  }
  return [...rows.values()];
};

export const activityProjection = onFirstEvents({
  name: "activity",
  version: 2,
  tables: [ACTIVITY],
  stateKeys: () => [],
  evolve,
});
