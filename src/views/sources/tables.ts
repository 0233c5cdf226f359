import { Type } from "@sinclair/typebox";
import { type Latest, latestText } from "../kit/latest.ts";
import type { List } from "../kit/list.ts";
import { columnsOf, tableOf } from "../kit/read-model.ts";
import { INTEGER, type Table, TEXT } from "../store/tables.ts";
import type { Announced, Numbers } from "./numbers.ts";

/** The members of heartbeats that the register shows: a number or a text each. */
export const HEARTBEAT_KEYS = [
  "queue_depth",
  "outbox_depth",
  "circuit_state",
  "dropped",
  "last_source_sequence",
  "sdk_version",
  "sdk_language",
] as const;

/** What its events said, in any order of arrival. */
export interface Source {
  readonly id: string;
  readonly numbers: Numbers;
  lastAt: string;
  /** Of several events at that time, when the last of them was received. */
  lastRecorded: string;
  /** The last statements of heartbeats, under their own names. */
  said: Latest;
  announced: readonly Announced[];
}

const { integer, optional, saidTimes, text } = columnsOf<Source>();

/**
 * Sources that number their events: `metadata.source_id` and `metadata.source_sequence`, from 1. Their heartbeats may say how far they have counted,
 * `metadata.last_source_sequence`: otherwise lost numbers at the end would go unnoticed.
 */
export const { table: SOURCES, rowOf: sourceRow } = tableOf<Source>({
  name: "sources",
  columns: {
    source_id: text(({ id }) => id),
    last_number: integer(({ numbers }) => numbers.last),
    received: integer(({ numbers }) => numbers.received),
    // Up to the highest number that was seen or announced.
    missing: integer(({ numbers, announced }) => (announced.at(-1)?.[0] ?? numbers.last) - numbers.received),
    last_at: text(({ lastAt }) => lastAt),
    last_recorded_at: text(({ lastRecorded }) => lastRecorded),
    ...saidTimes("heartbeat", "heartbeat_at", ({ said }) => said),
    heartbeat: optional(({ said }) => said.heartbeat_at && heartbeatText(said)),
    said: text(({ said }) => latestText(said)),
    announced: text(({ announced }) => JSON.stringify(announced)),
  },
  primaryKey: ["tenant", "source_id"],
  indexes: [["tenant", "last_at", "source_id"]],
});

const heartbeatText = (said: Latest): string => {
  const members = HEARTBEAT_KEYS.flatMap((name) => {
    const [value] = said[name] ?? [];
    return value === undefined ? [] : `"${name}":${value}`;
  });
  return `{${members.join(",")}}`;
};

export const SOURCE_GAPS = {
  name: "source_gaps",
  columns: {
    tenant: TEXT,
    source_id: TEXT,
    first_number: INTEGER,
    last_number: INTEGER,
    /**
     * The time of the event after the gap, which revealed it; if none has come, of the first heartbeat that announced numbers of it (numbers.ts).
     */
    since: TEXT,
  },
  primaryKey: ["tenant", "source_id", "first_number"],
  indexes: [
    ["tenant", "since", "source_id", "first_number"],
    ["tenant", "source_id", "since", "first_number"],
  ],
} as const satisfies Table;

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
