import { INTEGER, NULLABLE_TEXT, type Table, TEXT } from "../store/tables.ts";

/** The models of an asset, each version of each. */
export const MODELS = {
  name: "models",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** Empty if the events name none. */
    version: TEXT,
    /** The model's name, short enough for a key. Empty if the events name none. */
    name: TEXT,
    model: NULLABLE_TEXT,
    /** The time of the first event about it. */
    at: TEXT,
    /** `deployed`, `retired`, or `seen` if neither is in the log. */
    state: TEXT,
    deployed_at: NULLABLE_TEXT,
    deployed_recorded_at: NULLABLE_TEXT,
    retired_at: NULLABLE_TEXT,
    retired_recorded_at: NULLABLE_TEXT,
    degradations: INTEGER,
    degraded_at: NULLABLE_TEXT,
    degraded_recorded_at: NULLABLE_TEXT,
    /** JSON object: what the events said that name this model (told.ts). */
    said: TEXT,
  },
  primaryKey: ["tenant", "asset_id", "version", "name"],
  indexes: [
    ["tenant", "at", "asset_id", "version", "name"],
    ["tenant", "state", "at", "asset_id", "version", "name"],
    ["tenant", "asset_id", "at", "version", "name"],
  ],
} as const satisfies Table;

/** The model names of one version of an asset, and what was said of that version without a name. */
export const MODEL_VERSIONS = {
  name: "model_versions",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    version: TEXT,
    /** The first of the names in alphabetical order; empty if no event names one. */
    first_name: TEXT,
    /** 1 if there are more. */
    has_others: INTEGER,
    /** As in MODELS; empty if every event names its model. */
    said: TEXT,
  },
  primaryKey: ["tenant", "asset_id", "version"],
  indexes: [],
} as const satisfies Table;

export const MODEL_STATES = ["seen", "deployed", "retired"] as const;
export type ModelState = (typeof MODEL_STATES)[number];
