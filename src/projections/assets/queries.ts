/** The queries of the view `assets`. */
import { type TSchema, Type } from "@sinclair/typebox";
import { RISK_TIERS } from "../../event/risk-tiers.ts";
import { KEPT_LEGAL_BASES_MAX, METADATA_LIST_ITEMS_MAX } from "../../limits.ts";
import { type Row, rowText } from "../../views/tables.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { entryMembers, entryOf, type List } from "../list.ts";
import { ASSET_STATUSES, ASSETS, ASSETS_VIEW } from "./tables.ts";

export const assetList: List = {
  view: ASSETS_VIEW,
  table: ASSETS,
  orderBy: ["last_at", "asset_id"],
  filters: ["risk_tier", "status"],
  values: { risk_tier: RISK_TIERS, status: ASSET_STATUSES },
  hidden: ["said"],
  json: {
    legal_bases: Type.Array(Type.String(), {
      maxItems: KEPT_LEGAL_BASES_MAX,
      description: `All that its events name; where these are more than ${KEPT_LEGAL_BASES_MAX}, the first of them in alphabetical order.`,
    }),
  },
  about: {
    risk_tier:
      "The tier of the last `assessment.risk_classification_changed`, whatever tier other events are sent with; where the log has none, the tier that an event was sent with last.",
  },
};

/** Members that an asset has if events state them (evolve.ts). */
const SAID: Readonly<Record<string, TSchema>> = {
  name: Type.String(),
  owner: Type.String(),
  role: Type.String(),
  ai_type: Type.String(),
  domain: Type.String(),
  decision_autonomy: Type.String(),
  user_impact: Type.String(),
  processes_personal_data: Type.Boolean(),
  oversight_person: Type.String({ description: "Who oversees it (AI Basic Act Decree 27(1)4)." }),
  oversight_contact: Type.String({ description: "How to reach that person." }),
  retention: Type.String(),
  clauses: Type.Array(Type.String(), {
    maxItems: METADATA_LIST_ITEMS_MAX,
    description: "Articles that the last event named that says why it is at its tier, or describes it.",
  }),
  created_at: Type.String({ format: "date-time", description: "The first `asset.created`." }),
  deployed_at: Type.String({ format: "date-time" }),
  retired_at: Type.String({ format: "date-time" }),
  archived_at: Type.String({ format: "date-time" }),
  assessed_at: Type.String({ format: "date-time", description: "The last completed impact assessment." }),
};

export const assetMembers: Readonly<Record<string, TSchema>> = {
  ...entryMembers(assetList),
  ...Object.fromEntries(Object.entries(SAID).map(([name, schema]) => [name, Type.Optional(schema)])),
};

export const assetEntry = (row: Row, now: string): Readonly<Record<string, unknown>> => {
  const said: Readonly<Record<string, readonly [string, string, string]>> = JSON.parse(rowText(row, "said"));
  const shown = Object.keys(SAID).flatMap((name) => {
    const value = said[name]?.[0];
    return value === undefined ? [] : [[name, saidValue(name, value)]];
  });
  return { ...entryOf(assetList, row, now), ...Object.fromEntries(shown) };
};

const saidValue = (name: string, value: string): unknown => {
  if (name === "clauses") return JSON.parse(value);
  if (name === "processes_personal_data") return value === "true";
  return name.endsWith("_at") ? `${value}Z` : value;
};

export const findAsset = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  assetId: string,
): Promise<Row | undefined> => {
  const [row] = await views.load(ASSETS, [{ tenant, asset_id: assetId }]);
  return row;
};
