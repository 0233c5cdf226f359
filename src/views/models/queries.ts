import type { List } from "../kit/list.ts";
import { MODEL_STATES, MODELS } from "./tables.ts";

export const modelList: List = {
  view: "models",
  table: MODELS,
  orderBy: ["at", "asset_id", "version", "name"],
  time: "the time of the first event about it",
  filters: ["asset_id", "state"],
  values: { state: MODEL_STATES },
  hidden: ["name", "at", "said"],
};
