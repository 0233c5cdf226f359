/** The view `outcomes`: which outputs of the systems were labeled as generated (DOMAIN 3.4: labeled outcome hashes / generated ones). */
import { ANY_LAW } from "../../law/obligations/deadline-table.ts";
import { DUTY_COUNTS, type DutyCount } from "../coverage/duty-counts.ts";
import { isFirst, type Said } from "../kit/latest.ts";
import { OUTCOME_ASSETS_MAX } from "../kit/limits.ts";
import type { FirstEvent } from "../kit/projection.ts";
import { ofThings } from "../kit/read-model.ts";
import { NULLABLE_TEXT, type Row, type RowOf, rowText, type Table, TEXT } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";

/** One row per outcome hash in events: which assets generated it, and whether it was labeled. */
export const OUTCOMES = {
  name: "outcomes",
  columns: {
    tenant: TEXT,
    /** In lower case. */
    outcome_hash: TEXT,
    /** JSON array of asset_ids in order, at most OUTCOME_ASSETS_MAX: a word such as "denied" has the same hash for many. */
    assets: TEXT,
    /** The first event that labels it, of whatever asset; null where none does. */
    labeled_asset: NULLABLE_TEXT,
    labeled_at: NULLABLE_TEXT,
    labeled_by: NULLABLE_TEXT,
  },
  primaryKey: ["tenant", "outcome_hash"],
  indexes: [],
} as const satisfies Table;

/** How many outcomes each asset generated, and how many of them were labeled. */
export const LABELING = { name: "labeling", ...DUTY_COUNTS } as const satisfies Table;

/** The evidence: one row per event that labels an outcome, for its own asset; of the first label of each outcome also one for every other asset that gave it out. */
export const OUTCOME_LABELS = {
  name: "outcome_labels",
  columns: { tenant: TEXT, asset_id: TEXT, at: TEXT, event_id: TEXT },
  primaryKey: ["tenant", "asset_id", "at", "event_id"],
  indexes: [],
} as const satisfies Table;

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
  /** The events of the batch that label it. */
  readonly labels: RowOf<typeof OUTCOME_LABELS>[];
}

const NOTHING: Outcome = { assets: [], label: undefined };

const grow = (change: OutcomeChange, { tenant, facts }: FirstEvent): void => {
  const { assetId, eventType, occurred, eventId } = facts;
  if (!LABELS.includes(eventType)) {
    change.now = withAsset(change.now, assetId);
    return;
  }
  const label: Said = [assetId, occurred, eventId];
  change.now = withLabel(change.now, label);
  change.labels.push(evidenceOf(tenant, assetId, label));
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

const writesOf = (
  { before, now, labels }: OutcomeChange,
  tenant: string,
  outcomeHash: string,
): readonly Write[] => {
  const writes = labels.map((row): Write => ({ kind: "insert", table: OUTCOME_LABELS, row }));
  if (now.label === before.label && isSame(now.assets, before.assets)) return writes;
  const [labeled_asset = null, labeled_at = null, labeled_by = null] = now.label ?? [];
  const labeled = { labeled_asset, labeled_at, labeled_by };
  const row = { ...keyOf(tenant, outcomeHash), assets: JSON.stringify(now.assets), ...labeled };
  writes.push({ kind: "upsert", table: OUTCOMES, row });
  for (const key of evidenceIn(tenant, before, now))
    writes.push({ kind: "delete", table: OUTCOME_LABELS, key });
  for (const label of evidenceIn(tenant, now, before))
    writes.push({ kind: "insert", table: OUTCOME_LABELS, row: label });
  for (const asset of new Set([...before.assets, ...now.assets])) {
    const [was, is] = [countIn(before, asset), countIn(now, asset)];
    const count = countOf(tenant, asset, is.required - was.required, is.labeled - was.labeled);
    if (count.required !== 0 || count.in_time !== 0)
      writes.push({ kind: "add", table: LABELING, row: count });
  }
  return writes;
};

const countIn = ({ assets, label }: Outcome, asset: string) => {
  const required = Number(assets.includes(asset));
  return { required, labeled: label === undefined ? 0 : required };
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

const keyIn = ({ tenant, facts }: FirstEvent) => keyOf(tenant, facts.outcomeHash ?? "");

export const outcomesProjection = ofThings<OutcomeChange>({
  name: "outcomes",
  version: 4,
  tables: [OUTCOMES, LABELING, OUTCOME_LABELS],
  // Most events name none.
  idOf: ({ facts }) => facts.outcomeHash ?? undefined,
  keysOf: (event) => [{ table: OUTCOMES, key: keyIn(event) }],
  read: (states, event) => {
    const before = outcomeFrom(states.get(OUTCOMES, keyIn(event)));
    return { before, now: before, labels: [] };
  },
  grow,
  writesOf,
});
