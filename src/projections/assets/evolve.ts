/** The view `assets`: what is known of each AI system, from all of its events. */
import { type EventFacts, metadataText } from "../../event/facts.ts";
import { ASSET_LEGAL_BASES_MAX } from "../../limits.ts";
import { type RowOf, rowInteger, rowText } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { earlierOf, type Latest, laterOf, latestText, withSaid } from "../latest.ts";
import type { States } from "../projection.ts";
import { ASSETS } from "./tables.ts";

/** Columns of the asset register (DESIGN 6) and the keys of `metadata` that carry them. */
const DESCRIBED: Readonly<Record<string, readonly string[]>> = {
  name: ["name", "asset_name"],
  owner: ["owner"],
  role: ["role"],
  ai_type: ["ai_type"],
  domain: ["domain"],
  decision_autonomy: ["decision_autonomy"],
  user_impact: ["user_impact"],
  oversight_person: ["oversight_person"],
  retention: ["retention"],
};

const STATUS: Readonly<Record<string, string>> = {
  "asset.created": "active",
  "asset.archived": "archived",
  "model.model_deployed": "active",
  "model.model_retired": "retired",
};

const TIMES: Readonly<Record<string, string>> = {
  "asset.created": "created_at",
  "asset.archived": "archived_at",
  "model.model_deployed": "deployed_at",
  "model.model_retired": "retired_at",
  "assessment.impact_assessment_completed": "assessed_at",
};

interface Asset {
  readonly events: number;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly legalBases: readonly string[];
  readonly said: Latest;
}

const evolve = (states: States, events: readonly FirstEvent[]): readonly Write[] => {
  const assets = new Map<string, { readonly tenant: string; readonly assetId: string; asset: Asset }>();
  for (const { tenant, facts } of events) {
    // A tenant's name has no space.
    const name = `${tenant} ${facts.assetId}`;
    const known = assets.get(name);
    if (known) known.asset = grown(known.asset, facts);
    else {
      const { assetId } = facts;
      const row = states.get(ASSETS, { tenant, asset_id: assetId });
      const before: Asset | undefined = row && {
        events: rowInteger(row, "events"),
        firstAt: rowText(row, "first_at"),
        lastAt: rowText(row, "last_at"),
        legalBases: JSON.parse(rowText(row, "legal_bases")),
        said: JSON.parse(rowText(row, "said")),
      };
      assets.set(name, { tenant, assetId, asset: grown(before, facts) });
    }
  }
  return [...assets.values()].map(({ tenant, assetId, asset }) => ({
    kind: "upsert",
    table: ASSETS,
    row: rowOf(tenant, assetId, asset),
  }));
};

const grown = (asset: Asset | undefined, facts: EventFacts): Asset => {
  const { occurred, legalBases } = facts;
  const before = asset ?? { events: 0, firstAt: occurred, lastAt: occurred, legalBases: [], said: {} };
  return {
    events: before.events + 1,
    firstAt: earlierOf(occurred, before.firstAt),
    lastAt: laterOf(occurred, before.lastAt),
    legalBases: union(before.legalBases, legalBases),
    said: sayings(facts).reduce<Latest>(
      (said, [name, value]) => withSaid(said, name, [value, occurred, facts.eventId]),
      before.said,
    ),
  };
};

/** The first ones by name stay, so that a limit does not depend on the order of arrival. */
const union = (known: readonly string[], more: readonly string[]): readonly string[] =>
  more.every((name) => known.includes(name))
    ? known
    : [...new Set([...known, ...more])].sort().slice(0, ASSET_LEGAL_BASES_MAX);

const sayings = (facts: EventFacts): readonly (readonly [string, string])[] => {
  const { eventType, metadata, assetVersion, occurred } = facts;
  const isDescription = eventType.startsWith("asset.") || eventType.startsWith("model.");
  const described = isDescription
    ? Object.entries(DESCRIBED).map(([name, keys]) => [name, metadataText(metadata, ...keys)] as const)
    : [];
  const personal = isDescription ? metadata.processes_personal_data : undefined;
  const version =
    assetVersion ??
    (isDescription ? metadataText(metadata, "asset_version", "version", "model_version") : undefined);
  const always: readonly (readonly [string, string | undefined])[] = [
    ["risk_tier", tierOf(facts)],
    ["version", version],
  ];
  if (!isDescription && !eventType.startsWith("assessment.")) return always.filter(isSaid);
  const all: readonly (readonly [string, string | undefined])[] = [
    ...always,
    ["status", STATUS[eventType]],
    [TIMES[eventType] ?? "", TIMES[eventType] && occurred],
    ["processes_personal_data", typeof personal === "boolean" ? String(personal) : undefined],
    ...described,
  ];
  return all.filter(isSaid);
};

const isSaid = (saying: readonly [string, string | undefined]): saying is readonly [string, string] =>
  saying[1] !== undefined;

/** An event that changes the classification says it in its metadata; any other was sent under the tier of its time. */
const tierOf = ({ eventType, metadata, riskTier }: EventFacts): string | undefined => {
  const changedTo =
    eventType === "assessment.risk_classification_changed"
      ? metadataText(metadata, "to", "to_tier", "new_tier", "risk_tier")
      : undefined;
  return changedTo ?? riskTier ?? undefined;
};

const rowOf = (tenant: string, assetId: string, asset: Asset): RowOf<typeof ASSETS> => ({
  tenant,
  asset_id: assetId,
  events: asset.events,
  first_at: asset.firstAt,
  last_at: asset.lastAt,
  status: asset.said.status?.[0] ?? "seen",
  risk_tier: asset.said.risk_tier?.[0] ?? null,
  version: asset.said.version?.[0] ?? null,
  legal_bases: JSON.stringify(asset.legalBases),
  said: latestText(asset.said),
});

export const assetsProjection = onFirstEvents({
  name: "assets",
  version: 1,
  tables: [ASSETS],
  stateKeys: (events) =>
    events.map(({ tenant, facts }) => ({ table: ASSETS, key: { tenant, asset_id: facts.assetId } })),
  evolve,
});
