import { strict as assert } from "node:assert";
import { splitEventType } from "../../../streams/subjects.ts";
import type { RowInMaking, RowOf, Table } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { ACTIVITY, ACTIVITY_OF_ALL, HOURS } from "./tables.ts";

type Activity = RowInMaking<typeof ACTIVITY>;
type ActivityOfAll = RowInMaking<typeof ACTIVITY_OF_ALL>;

/** Where a time names its hour. */
const [DAY, HOUR] = ["2026-11-20".length, "2026-11-20T10".length];

/** One row for all events that are counted in it: the store would be asked for each. */
const evolve = (_states: unknown, events: readonly FirstEvent[]): readonly Write[] => {
  const rows = new Map<string, Activity>();
  for (const { tenant, facts } of events) {
    const { assetId, eventType, riskTier, occurred } = facts;
    const start = occurred.slice(0, DAY);
    const name = `${tenant} ${start} ${eventType.length} ${eventType} ${riskTier?.length} ${riskTier} ${assetId}`;
    const known = rows.get(name);
    const row: Activity = known ?? {
      tenant,
      start,
      asset_id: assetId,
      event_type: eventType,
      risk_tier: riskTier ?? "",
      event_group: splitEventType(eventType).group,
      ...NONE,
    };
    if (known === undefined) rows.set(name, row);
    const hour = HOURS[Number(occurred.slice(DAY + 1, HOUR))];
    assert(hour !== undefined, "a day has 24 hours");
    row.events++;
    row[hour]++;
  }
  const counts = [...rows.values()];
  return [...added(ACTIVITY, counts), ...added(ACTIVITY_OF_ALL, ofAllAssets(counts))];
};

const NONE = {
  ...{ events: 0, h00: 0, h01: 0, h02: 0, h03: 0, h04: 0, h05: 0, h06: 0, h07: 0, h08: 0, h09: 0, h10: 0 },
  ...{ h11: 0, h12: 0, h13: 0, h14: 0, h15: 0, h16: 0, h17: 0, h18: 0, h19: 0, h20: 0, h21: 0, h22: 0 },
  h23: 0,
};

const ofAllAssets = (counts: readonly RowOf<typeof ACTIVITY>[]): readonly RowOf<typeof ACTIVITY_OF_ALL>[] => {
  const rows = new Map<string, ActivityOfAll>();
  for (const { asset_id: _, ...row } of counts) {
    const { tenant, start, event_type: eventType, risk_tier: riskTier } = row;
    const name = `${tenant} ${start} ${eventType.length} ${eventType} ${riskTier}`;
    const known = rows.get(name);
    if (known === undefined) {
      rows.set(name, row);
      continue;
    }
    known.events += row.events;
    for (const hour of HOURS) known[hour] += row[hour];
  }
  return [...rows.values()];
};

const added = (table: Table, rows: readonly (Activity | ActivityOfAll)[]): readonly Write[] =>
  rows.map((row) => ({ kind: "add", table, row }));

export const activityProjection = onFirstEvents({
  name: "activity",
  version: 3,
  tables: [ACTIVITY, ACTIVITY_OF_ALL],
  stateKeys: () => [],
  evolve,
});
