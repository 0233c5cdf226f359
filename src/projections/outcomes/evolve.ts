/** The view `outcomes`: of what the systems gave out, which of it was marked as made by one (DOMAIN 3.4: labeled outcome hashes / generated ones). */
import { ANY_LAW } from "../../obligations/duties.ts";
import { type Row, type RowOf, rowInteger, rowText } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import type { DutyCount } from "../coverage/duty-counts.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { below, type Level } from "../level.ts";
import { OUTCOME_ASSETS_MAX } from "../limits.ts";
import type { States } from "../projection.ts";
import { LABELING, OUTCOME_LABELS, OUTCOMES } from "./tables.ts";

/** With the legacy name. They name the outcome that they label and give none out. */
const LABELS: readonly string[] = ["transparency.result_labeled", "watermark_applied"];

interface Outcome {
  readonly assets: readonly string[];
  readonly isLabeled: boolean;
}

interface OutcomeChange {
  readonly before: Outcome;
  now: Outcome;
}

const NOTHING: Outcome = { assets: [], isLabeled: false };

const evolve = (states: States, events: readonly FirstEvent[]): readonly Write[] => {
  let tenants: Level<Level<OutcomeChange>> | undefined;
  const writes: Write[] = [];
  for (const { tenant, facts } of events) {
    const { outcomeHash, assetId, eventType, occurred, eventId } = facts;
    // Most events name none.
    if (outcomeHash === null) continue;
    tenants ??= new Map();
    const changes = below(tenants, tenant);
    let change = changes.get(outcomeHash);
    if (change === undefined) {
      const before = outcomeFrom(states.get(OUTCOMES, keyOf(tenant, outcomeHash)));
      change = { before, now: before };
      changes.set(outcomeHash, change);
    }
    if (LABELS.includes(eventType)) {
      change.now = { ...change.now, isLabeled: true };
      const row: RowOf<typeof OUTCOME_LABELS> = {
        tenant,
        asset_id: assetId,
        at: occurred,
        event_id: eventId,
      };
      writes.push({ kind: "insert", table: OUTCOME_LABELS, row });
    } else change.now = withAsset(change.now, assetId);
  }
  for (const [tenant, changes] of tenants ?? []) writes.push(...changesOf(tenant, changes));
  return writes;
};

const keyOf = (tenant: string, outcomeHash: string) => ({ tenant, outcome_hash: outcomeHash });

const outcomeFrom = (row: Row | undefined): Outcome =>
  row === undefined
    ? NOTHING
    : { assets: JSON.parse(rowText(row, "assets")), isLabeled: rowInteger(row, "is_labeled") === 1 };

/** The first ones by name stay, so that a limit does not depend on the order of arrival. */
const withAsset = (outcome: Outcome, assetId: string): Outcome =>
  outcome.assets.includes(assetId)
    ? outcome
    : { ...outcome, assets: [...outcome.assets, assetId].sort().slice(0, OUTCOME_ASSETS_MAX) };

const changesOf = (tenant: string, changes: Level<OutcomeChange>): readonly Write[] => {
  const writes: Write[] = [];
  const counts = new Map<string, { required: number; labeled: number }>();
  const count = ({ assets, isLabeled }: Outcome, sign: 1 | -1): void => {
    for (const asset of assets) {
      const counted = counts.get(asset) ?? { required: 0, labeled: 0 };
      counted.required += sign;
      if (isLabeled) counted.labeled += sign;
      counts.set(asset, counted);
    }
  };
  for (const [outcomeHash, { before, now }] of changes) {
    if (now.isLabeled === before.isLabeled && isSame(now.assets, before.assets)) continue;
    count(before, -1);
    count(now, 1);
    const row: RowOf<typeof OUTCOMES> = {
      ...keyOf(tenant, outcomeHash),
      assets: JSON.stringify(now.assets),
      is_labeled: now.isLabeled ? 1 : 0,
    };
    writes.push({ kind: "upsert", table: OUTCOMES, row });
  }
  for (const [asset, { required, labeled }] of counts)
    if (required !== 0 || labeled !== 0)
      writes.push({ kind: "add", table: LABELING, row: countOf(tenant, asset, required, labeled) });
  return writes;
};

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one === other || (one.length === other.length && one.every((name, index) => name === other[index]));

const countOf = (tenant: string, assetId: string, required: number, labeled: number): DutyCount => ({
  tenant,
  asset_id: assetId,
  law: ANY_LAW,
  duty: "labeling",
  required,
  in_time: labeled,
  late: 0,
  unmet: required - labeled,
});

export const outcomesProjection = onFirstEvents({
  name: "outcomes",
  version: 2,
  tables: [OUTCOMES, LABELING, OUTCOME_LABELS],
  stateKeys: (events) =>
    events.flatMap(({ tenant, facts: { outcomeHash } }) =>
      outcomeHash === null ? [] : [{ table: OUTCOMES, key: keyOf(tenant, outcomeHash) }],
    ),
  evolve,
});
