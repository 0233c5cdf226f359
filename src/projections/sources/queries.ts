import type { List } from "../list.ts";
import { SOURCE_GAPS, SOURCES } from "./tables.ts";

export const sourceList: List = {
  view: "sources",
  table: SOURCES,
  orderBy: ["last_at", "source_id"],
  filters: [],
  hidden: ["said", "ranges"],
};

export const sourceGapList: List = {
  view: "sources",
  table: SOURCE_GAPS,
  orderBy: ["since", "source_id", "first_number"],
  filters: ["source_id"],
  times: ["since"],
};
