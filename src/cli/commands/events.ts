/** `prooftrail events …`: what is in the log. */
import { setTimeout as delay } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { memberTexts } from "../../api/intake/json/slice.ts";
import { nextAttemptMs } from "../../sdk/retry.ts";
import { type Api, answering, openApi, retryable } from "../api.ts";
import { type CommandGroup, type CommandSpec, type Input, type OptionSpec, option } from "../command.ts";
import type { Context } from "../context.ts";
import {
  EVENT_COLUMNS,
  EVENT_FILTER_OPTIONS,
  EVENT_WIDTHS,
  eventRow,
  ORDER_OPTION,
  STREAM_FILTER_OPTIONS,
} from "../event-filters.ts";
import { EXIT, Failure, Interrupted } from "../failure.ts";
import { asRecord, parseJson, shown } from "../json.ts";
import { CLI_RETRY_MS_MAX, CLI_STREAM_QUIET_MS_MAX } from "../limits.ts";
import { listCommand } from "../lists.ts";
import {
  idComplaint,
  integerComplaint,
  jsonOption,
  MIN_SEQUENCE_OPTION,
  QUIET_OPTION,
  queryFrom,
  SERVICE_OPTIONS,
} from "../options.ts";
import { tableColumns, tellNotice } from "../output.ts";
import { createTable, detailLines } from "../table.ts";

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
    (_, { context, answer }) => eventText(context, memberTexts(memberTexts(answer.text).get("data") ?? "")),
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

const TAIL_PARAMETERS: readonly OptionSpec[] = [
  option("--after", "sequence", "begin after this one, 0 for the first; else with new events", {
    complaint: integerComplaint({ min: 0 }),
  }),
  ...STREAM_FILTER_OPTIONS,
];

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

/** Ends with Ctrl-C or when nobody reads any more. Throws a Failure if the service refuses, or was never reached. */
const tailEvents = async (parts: {
  readonly api: Api;
  readonly input: Input;
  readonly context: Context;
}): Promise<void> => {
  const { api, input, context } = parts;
  const { out, err, random } = context;
  const signal = context.interruption();
  const print = printerFor(input, context);
  const query = queryFrom(input, TAIL_PARAMETERS);
  // Sent as Last-Event-ID, which takes precedence over `after`.
  let seen: string | undefined;
  let failures = 0;
  let wasOpen = false;
  const isOver = (): boolean => signal.aborted || !out.isHeard();
  try {
    while (!isOver()) {
      const quiet = new AbortController();
      const headers = { accept: STREAM_TYPE, ...(seen !== undefined && { "last-event-id": seen }) };
      const opened = await api
        .open({
          path: "/v1/events/stream",
          query,
          headers,
          signal: AbortSignal.any([signal, quiet.signal]),
          mediaType: STREAM_TYPE,
        })
        .catch(retryable);
      if (opened instanceof Response) {
        // Shows a person with an empty screen that it works.
        if (!wasOpen && err.isTerminal && !input.isSet("--quiet"))
          await err.write(`Following ${api.address.url}; Ctrl-C ends.\n`);
        wasOpen = true;
        failures = 0;
        for await (const { id, data } of messagesOf(opened, quiet)) {
          if (data !== undefined) await print(data);
          seen = id ?? seen;
          if (isOver()) return;
        }
      } else if (!wasOpen) throw opened;
      if (isOver()) return;
      failures++;
      const askedMs = opened instanceof Failure ? opened.retryAfterMs : undefined;
      // Reported once per interruption, however often reconnecting fails.
      if (failures === 1 && !input.isSet("--quiet"))
        await tellNotice(context, input, {
          code: "connecting_again",
          message: "the stream broke off; reconnecting",
        });
      const waitMs = nextAttemptMs({ failures, capMs: CLI_RETRY_MS_MAX, askedMs, random });
      await delay(waitMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof Interrupted)) throw error;
  }
};

const printerFor = (input: Input, { out }: Context): ((data: string) => Promise<void>) => {
  // A line feed in the text can only stand between two values, where it is white space (RFC 8259 §2).
  if (input.isSet("--json")) return (data) => out.write(`${data.replaceAll("\n", " ")}\n`);
  const table = createTable<ReturnType<typeof eventRow>>(EVENT_COLUMNS, tableColumns(out), EVENT_WIDTHS);
  return (data) => out.write(table([eventRow(asRecord(parseJson(data)) ?? {})]));
};

const STREAM_TYPE = "text/event-stream";

/** Ids and events of the stream, until it ends, breaks or is quiet for too long. An id comes right before the next event is read. */
async function* messagesOf(response: Response, quiet: AbortController) {
  const decoder = new TextDecoder();
  const found: { readonly id?: string; readonly data?: string }[] = [];
  const parser = createParser({
    // Blocks without an event count as well: they say where the stream begins and how far it has looked.
    onId: (id) => void found.push({ id }),
    onEvent: ({ data }) => void found.push({ data }),
  });
  const timer = setTimeout(() => quiet.abort(), CLI_STREAM_QUIET_MS_MAX);
  try {
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* found.splice(0);
    }
  } catch {
    // Whatever the cause, the caller connects again.
  } finally {
    clearTimeout(timer);
  }
}
