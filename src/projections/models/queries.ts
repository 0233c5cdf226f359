import type { List } from "../list.ts";
import { MODELS } from "./tables.ts";

export const modelList: List = {
  view: "models",
  table: MODELS,
  orderBy: ["at", "asset_id", "version"],
  filters: ["asset_id", "state"],
  hidden: ["said"],
};
