/** The view `outcomes`: which outputs of the systems were labeled as generated (DOMAIN 3.4: labeled outcome hashes / generated ones). */
import { ANY_LAW } from "../../law/obligations/duties.ts";
import type { DutyCount } from "../coverage/duty-counts.ts";
import { type FirstEvent, onFirstEvents } from "../kit/first-events.ts";
import { isFirst, type Said } from "../kit/latest.ts";
import { OUTCOME_ASSETS_MAX } from "../kit/limits.ts";
import { below, type Level } from "../kit/nested-maps.ts";
import type { States } from "../kit/projection.ts";
import { type Row, type RowOf, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { LABELING, OUTCOME_LABELS, OUTCOMES } from "./tables.ts";

/** Including the legacy name. These events label the outcome that they name and generate none. */
const LABELS: readonly string[] = ["transparency.result_labeled", "watermark_applied"];

interface Outcome {
  readonly assets: readonly string[];
  /** By which asset it is labeled, as the first event by time says, so that it seldom becomes another. */
  readonly label: Said | undefined;
}

interface OutcomeChange {
  readonly before: Outcome;
  now: Outcome;
}

const NOTHING: Outcome = { assets: [], label: undefined };

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
      const label: Said = [assetId, occurred, eventId];
      change.now = withLabel(change.now, label);
      writes.push({ kind: "insert", table: OUTCOME_LABELS, row: evidenceOf(tenant, assetId, label) });
    } else change.now = withAsset(change.now, assetId);
  }
  for (const [tenant, changes] of tenants ?? []) writes.push(...changesOf(tenant, changes));
  return writes;
};

const keyOf = (tenant: string, outcomeHash: string) => ({ tenant, outcome_hash: outcomeHash });

const outcomeFrom = (row: Row | undefined): Outcome =>
  row === undefined ? NOTHING : { assets: JSON.parse(rowText(row, "assets")), label: labelFrom(row) };

const labelFrom = (row: Row): Said | undefined =>
  row.labeled_at === null
    ? undefined
    : [rowText(row, "labeled_asset"), rowText(row, "labeled_at"), rowText(row, "labeled_by")];

const withLabel = (outcome: Outcome, label: Said): Outcome =>
  isFirst(outcome.label, label) ? { ...outcome, label } : outcome;

/** The first ones by name are kept, so that a limit does not depend on the order of arrival. */
const withAsset = (outcome: Outcome, assetId: string): Outcome =>
  outcome.assets.includes(assetId)
    ? outcome
    : { ...outcome, assets: [...outcome.assets, assetId].sort().slice(0, OUTCOME_ASSETS_MAX) };

const changesOf = (tenant: string, changes: Level<OutcomeChange>): readonly Write[] => {
  const writes: Write[] = [];
  const counts = new Map<string, { required: number; labeled: number }>();
  const count = ({ assets, label }: Outcome, sign: 1 | -1): void => {
    for (const asset of assets) {
      const counted = counts.get(asset) ?? { required: 0, labeled: 0 };
      counted.required += sign;
      if (label !== undefined) counted.labeled += sign;
      counts.set(asset, counted);
    }
  };
  for (const [outcomeHash, { before, now }] of changes) {
    if (now.label === before.label && isSame(now.assets, before.assets)) continue;
    count(before, -1);
    count(now, 1);
    const [labeled_asset = null, labeled_at = null, labeled_by = null] = now.label ?? [];
    const row: RowOf<typeof OUTCOMES> = {
      ...keyOf(tenant, outcomeHash),
      assets: JSON.stringify(now.assets),
      labeled_asset,
      labeled_at,
      labeled_by,
    };
    writes.push({ kind: "upsert", table: OUTCOMES, row });
    for (const key of evidenceIn(tenant, before, now))
      writes.push({ kind: "delete", table: OUTCOME_LABELS, key });
    for (const label of evidenceIn(tenant, now, before))
      writes.push({ kind: "insert", table: OUTCOME_LABELS, row: label });
  }
  for (const [asset, { required, labeled }] of counts)
    if (required !== 0 || labeled !== 0)
      writes.push({ kind: "add", table: LABELING, row: countOf(tenant, asset, required, labeled) });
  return writes;
};

const evidenceOf = (
  tenant: string,
  assetId: string,
  [, at, eventId]: Said,
): RowOf<typeof OUTCOME_LABELS> => ({ tenant, asset_id: assetId, at, event_id: eventId });

/** The evidence that assets of an outcome have in the label of another one, and did not have as the outcome was otherwise. */
const evidenceIn = (
  tenant: string,
  { assets, label }: Outcome,
  other: Outcome,
): readonly RowOf<typeof OUTCOME_LABELS>[] => {
  if (label === undefined) return NO_EVIDENCE;
  const added = label === other.label ? assets.filter((asset) => !other.assets.includes(asset)) : assets;
  const [labeling] = label;
  return added.flatMap((asset) => (asset === labeling ? NO_EVIDENCE : evidenceOf(tenant, asset, label)));
};

const NO_EVIDENCE: readonly never[] = [];

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
  version: 4,
  tables: [OUTCOMES, LABELING, OUTCOME_LABELS],
  stateKeys: (events) =>
    events.flatMap(({ tenant, facts: { outcomeHash } }) =>
      outcomeHash === null ? [] : [{ table: OUTCOMES, key: keyOf(tenant, outcomeHash) }],
    ),
  evolve,
});
