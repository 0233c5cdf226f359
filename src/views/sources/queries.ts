import { Type } from "@sinclair/typebox";
import type { List } from "../kit/list.ts";
import { HEARTBEAT_KEYS, SOURCE_GAPS, SOURCES } from "./tables.ts";

export const sourceList: List = {
  view: "sources",
  table: SOURCES,
  orderBy: ["last_at", "source_id"],
  time: "the time of its newest event",
  filters: [],
  checked: ["source_id"],
  hidden: ["said", "announced"],
  json: {
    heartbeat: Type.Object(
      Object.fromEntries(
        HEARTBEAT_KEYS.map((name) => [name, Type.Optional(Type.Union([Type.Number(), Type.String()]))]),
      ),
      { description: "What its heartbeats said last." },
    ),
  },
};

export const sourceGapList: List = {
  view: "sources",
  table: SOURCE_GAPS,
  orderBy: ["since", "source_id", "first_number"],
  time: "when it was first noticed",
  filters: ["source_id"],
  times: ["since"],
};
