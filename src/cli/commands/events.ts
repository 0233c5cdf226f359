/** `prooftrail events …`: what is in the log. */
import { memberTexts } from "../../api/intake/json/slice.ts";
import { answering, openApi } from "../api.ts";
import type { CommandGroup, CommandSpec } from "../command.ts";
import type { Context } from "../context.ts";
import {
  EVENT_COLUMNS,
  EVENT_FILTER_OPTIONS,
  EVENT_WIDTHS,
  eventRow,
  ORDER_OPTION,
} from "../event-filters.ts";
import { EXIT } from "../exit-codes.ts";
import { shown } from "../json.ts";
import { listCommand } from "../lists.ts";
import {
  idComplaint,
  jsonOption,
  MIN_SEQUENCE_OPTION,
  QUIET_OPTION,
  queryFrom,
  SERVICE_OPTIONS,
} from "../options.ts";
import { tableColumns } from "../output.ts";
import { detailLines } from "../table.ts";
import { TAIL_PARAMETERS, tailEvents } from "../tail.ts";

const list = listCommand({
  path: "/v1/events",
  summary: "Search events, newest first",
  row: "event",
  parameters: [...EVENT_FILTER_OPTIONS, ORDER_OPTION, MIN_SEQUENCE_OPTION],
  columns: EVENT_COLUMNS,
  widthsExpected: EVENT_WIDTHS,
  rowOf: eventRow,
  examples: [
    [
      "the newest decisions of one system",
      "prooftrail events list --asset-id credit_model --event-type 'decision.*'",
    ],
    [
      "what happened in a week, as JSON",
      "prooftrail events list --from 2026-11-16T00:00:00Z --to 2026-11-23T00:00:00Z \\\n  --all --json",
    ],
  ],
});

/** No event_id is that word (DESIGN 3), and the path with it is the live stream, which never ends. */
const eventIdComplaint = (text: string): string | undefined =>
  text === "stream" ? "Give an event_id; for the live stream use `events tail`." : idComplaint(text);

const get: CommandSpec = {
  name: "get",
  summary: "Show one event",
  arguments: [{ name: "event_id", description: "as it was sent", complaint: eventIdComplaint }],
  options: [MIN_SEQUENCE_OPTION, ...SERVICE_OPTIONS, jsonOption()],
  examples: [
    ["with what the log added", "prooftrail events get evt_first"],
    ["the event alone", "prooftrail events get evt_first --json | jq .data.event"],
  ],
  run: answering(
    (input) => ({
      path: `/v1/events/${encodeURIComponent(input.argument("event_id") ?? "")}`,
      query: queryFrom(input, [MIN_SEQUENCE_OPTION]),
    }),
    (_, context, { text }) => eventText(context, memberTexts(memberTexts(text).get("data") ?? "")),
  ),
};

/** Members as they were written: text without quotation marks, everything else as JSON on one line. */
const eventText = ({ out }: Context, stored: ReadonlyMap<string, string>): string => {
  // Indentation occurs between the parts of a value and never inside a text (RFC 8259 §7).
  const plain = (json = ""): string =>
    json.startsWith('"') ? shown(JSON.parse(json)) : json.trim().replaceAll(/[\t\r\n][ \t\r\n]*/g, " ");
  const event = memberTexts(stored.get("event") ?? "");
  const pairs = [
    ...["sequence", "tenant", "received_at"].map((name) => [name, plain(stored.get(name))] as const),
    ...Array.from(event, ([name, json]) => [name, plain(json)] as const),
  ];
  return detailLines(pairs, tableColumns(out));
};

const tail: CommandSpec = {
  name: "tail",
  summary: "Follow events as they are stored, until Ctrl-C",
  description: [
    "Each event once, in the order of the log. A broken connection is reopened, without gap or repeat.",
  ],
  options: [
    ...TAIL_PARAMETERS,
    ...SERVICE_OPTIONS,
    jsonOption("NDJSON: one stored event per line; errors as one JSON document"),
    { ...QUIET_OPTION, description: "do not report broken connections" },
  ],
  examples: [
    ["what comes from now on", "prooftrail events tail"],
    [
      "all incidents ever and from now on, one JSON per line",
      "prooftrail events tail --after 0 --event-type 'incident.*' --json",
    ],
  ],
  run: async (input, context) => {
    const api = await openApi(input, context);
    await tailEvents({ api, input, context });
    return EXIT.ok;
  },
};

export const EVENTS: CommandGroup = {
  name: "events",
  summary: "Events: search, read, follow",
  commands: [list, get, tail],
};
