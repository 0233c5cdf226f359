import { type TSchema, Type } from "@sinclair/typebox";
import { RISK_TIERS } from "../../event/risk-tiers.ts";
import { KEPT_LEGAL_BASES_MAX, METADATA_LIST_ITEMS_MAX } from "../../limits.ts";
import { DUTY_COUNTS } from "../coverage/duty-counts.ts";
import type { Latest } from "../kit/latest.ts";
import { entryMembers, entryOf, type List } from "../kit/list.ts";
import { INTEGER, NULLABLE_TEXT, type Row, rowText, type Table, TEXT } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";

export const ASSETS_VIEW = "assets";

export const ASSETS = {
  name: "assets",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    events: INTEGER,
    first_at: TEXT,
    first_recorded_at: TEXT,
    last_at: TEXT,
    last_recorded_at: TEXT,
    status: TEXT,
    risk_tier: NULLABLE_TEXT,
    version: NULLABLE_TEXT,
    /** JSON array of the legal bases that its events named, in order. */
    legal_bases: TEXT,
    said: TEXT,
  },
  primaryKey: ["tenant", "asset_id"],
  indexes: [
    ["tenant", "last_at", "asset_id"],
    ["tenant", "risk_tier", "asset_id"],
    ["tenant", "status", "asset_id"],
  ],
} as const satisfies Table;

export const ASSET_STATUSES = ["seen", "active", "retired", "archived"] as const;
export type AssetStatus = (typeof ASSET_STATUSES)[number];

/**
 * Duties that apply to every asset, whatever its events are about: its lifecycle evidence is counted here. What other views count is 0 here, so that
 * an asset without decisions or outcomes is shown to have no evidence instead of being left out.
 */
export const ASSET_DUTIES = { name: "asset_duties", ...DUTY_COUNTS } as const satisfies Table;

export const assetList: List = {
  view: ASSETS_VIEW,
  table: ASSETS,
  orderBy: ["last_at", "asset_id"],
  time: "the time of its newest event",
  filters: ["risk_tier", "status"],
  checked: ["asset_id"],
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
    description: "Articles named by the last event that describes it or justifies its tier.",
  }),
};

/** Times that an asset has if such an event is in the log, each with the time at which the log received it. */
const DONE: Readonly<Record<string, string | undefined>> = {
  created: "The first `asset.created`.",
  deployed: undefined,
  retired: undefined,
  archived: undefined,
  assessed: "The last completed impact assessment.",
};

const doneMembers = Object.entries(DONE).flatMap(([name, description]) => [
  [
    `${name}_at`,
    Type.String({ format: "date-time", ...(description !== undefined && { description }) }),
  ] as const,
  [`${name}_recorded_at`, Type.String({ format: "date-time" })] as const,
]);

export const assetMembers: Readonly<Record<string, TSchema>> = {
  ...entryMembers(assetList),
  ...Object.fromEntries(
    [...Object.entries(SAID), ...doneMembers].map(([name, schema]) => [name, Type.Optional(schema)]),
  ),
};

export const assetEntry = (row: Row, now: string): Readonly<Record<string, unknown>> => {
  const said: Latest = JSON.parse(rowText(row, "said"));
  const shown = Object.keys(SAID).flatMap((name) => {
    const value = said[name]?.[0];
    return value === undefined ? [] : [[name, saidValue(name, value)]];
  });
  const done = Object.keys(DONE).flatMap((name) => {
    const [at, , , recorded] = said[`${name}_at`] ?? [];
    return at === undefined || recorded === undefined
      ? []
      : [
          [`${name}_at`, `${at}Z`],
          [`${name}_recorded_at`, `${recorded}Z`],
        ];
  });
  return { ...entryOf(assetList, row, now), ...Object.fromEntries([...shown, ...done]) };
};

const saidValue = (name: string, value: string): unknown => {
  if (name === "clauses") return JSON.parse(value);
  return name === "processes_personal_data" ? value === "true" : value;
};

export const findAsset = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  assetId: string,
): Promise<Row | undefined> => {
  const [row] = await views.load(ASSETS, [{ tenant, asset_id: assetId }]);
  return row;
};
