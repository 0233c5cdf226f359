import { splitEventType } from "../../../streams/subjects.ts";
import type { RowOf } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { ACTIVITY } from "./tables.ts";

/** Characters of a time that name its hour and its day. */
const BUCKETS = [
  ["hour", "2026-11-20T10".length],
  ["day", "2026-11-20".length],
] as const;

const evolve = (_states: unknown, events: readonly FirstEvent[]): readonly Write[] =>
  events.flatMap(({ tenant, facts }) =>
    BUCKETS.map(([bucket, characters]): Write => {
      const row: RowOf<typeof ACTIVITY> = {
        tenant,
        bucket,
        start: facts.occurred.slice(0, characters),
        asset_id: facts.assetId,
        event_group: splitEventType(facts.eventType).group,
        event_type: facts.eventType,
        risk_tier: facts.riskTier ?? "",
        events: 1,
      };
      return { kind: "add", table: ACTIVITY, row };
    }),
  );

export const activityProjection = onFirstEvents({
  name: "activity",
  version: 1,
  tables: [ACTIVITY],
  stateKeys: () => [],
  evolve,
});
