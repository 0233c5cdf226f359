import { INTEGER, NULLABLE_TEXT, type Table, TEXT } from "../../views/tables.ts";

/** Versions of the models behind an asset. */
export const MODELS = {
  name: "models",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** Empty where the events name none. */
    version: TEXT,
    model: NULLABLE_TEXT,
    /** When it is first spoken of. */
    at: TEXT,
    /** `deployed`, `retired`, or `seen` where neither is in the log. */
    state: TEXT,
    deployed_at: NULLABLE_TEXT,
    retired_at: NULLABLE_TEXT,
    degradations: INTEGER,
    degraded_at: NULLABLE_TEXT,
    /** JSON object: what was said last (latest.ts). */
    said: TEXT,
  },
  primaryKey: ["tenant", "asset_id", "version"],
  indexes: [
    ["tenant", "at", "asset_id", "version"],
    ["tenant", "state", "at", "asset_id", "version"],
    ["tenant", "asset_id", "at", "version"],
  ],
} as const satisfies Table;

export const MODEL_STATES = ["seen", "deployed", "retired"] as const;
export type ModelState = (typeof MODEL_STATES)[number];
