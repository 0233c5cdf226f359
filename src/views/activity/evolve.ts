import { strict as assert } from "node:assert";
import { splitEventType } from "../../../streams/subjects.ts";
import { twoDigits } from "../../event/formats.ts";
import type { FirstEvent } from "../kit/projection.ts";
import { below, type Level, onFirstEvents } from "../kit/read-model.ts";
import type { RowInMaking, RowOf, Table } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { ACTIVITY, ACTIVITY_OF_ALL, HOURS } from "./queries.ts";

type Activity = RowInMaking<typeof ACTIVITY>;
type ActivityOfAll = RowInMaking<typeof ACTIVITY_OF_ALL>;

const DAY = "2026-11-20".length;
const HOUR_AT = "2026-11-20T".length;

/** One row for all events that are counted in it: the store would otherwise be asked for each. */
const evolve = (_states: unknown, events: readonly FirstEvent[]): readonly Write[] => {
  const tenants: Level<Level<Level<Level<Counted>>>> = new Map();
  const rows: Activity[] = [];
  const rowsOfAll: ActivityOfAll[] = [];
  for (const { tenant, facts } of events) {
    const { assetId, eventType, riskTier, occurred } = facts;
    const start = occurred.slice(0, DAY);
    const tier = riskTier ?? "";
    const tiers = below(below(below(tenants, tenant), start), eventType);
    let counted = tiers.get(tier);
    if (counted === undefined) {
      const kind = { tenant, start, event_type: eventType, risk_tier: tier };
      const none = { ...NONE, ...kind, event_group: splitEventType(eventType).group };
      counted = { none, ofAll: { ...none }, byAsset: new Map() };
      tiers.set(tier, counted);
      rowsOfAll.push(counted.ofAll);
    }
    let row = counted.byAsset.get(assetId);
    if (row === undefined) {
      row = { ...counted.none, asset_id: assetId };
      counted.byAsset.set(assetId, row);
      rows.push(row);
    }
    const hour = HOURS[twoDigits(occurred, HOUR_AT)];
    assert(hour !== undefined, "a day has 24 hours");
    row.events++;
    row[hour]++;
    counted.ofAll.events++;
    counted.ofAll[hour]++;
  }
  return [...added(ACTIVITY, rows), ...added(ACTIVITY_OF_ALL, rowsOfAll)];
};

interface Counted {
  readonly none: RowOf<typeof ACTIVITY_OF_ALL>;
  readonly ofAll: ActivityOfAll;
  readonly byAsset: Level<Activity>;
}

const NONE = {
  ...{ events: 0, h00: 0, h01: 0, h02: 0, h03: 0, h04: 0, h05: 0, h06: 0, h07: 0, h08: 0, h09: 0, h10: 0 },
  ...{ h11: 0, h12: 0, h13: 0, h14: 0, h15: 0, h16: 0, h17: 0, h18: 0, h19: 0, h20: 0, h21: 0, h22: 0 },
  h23: 0,
};

const added = (table: Table, rows: readonly (Activity | ActivityOfAll)[]): readonly Write[] =>
  rows.map((row) => ({ kind: "add", table, row }));

export const activityProjection = onFirstEvents({
  name: "activity",
  version: 4,
  tables: [ACTIVITY, ACTIVITY_OF_ALL],
  stateKeys: () => [],
  evolve,
});
