/** `prooftrail export`: all events that match, as a file. */

import { createPrintableCsv, printable, printableJson } from "../../terminal/printable.ts";
import { sizeText } from "../../terminal/size-text.ts";
import { openApi } from "../api.ts";
import type { CommandSpec, OptionSpec } from "../command.ts";
import { downloadTo, FORCE_OPTION, openTarget } from "../download.ts";
import { EVENT_FILTER_OPTIONS, MIN_SEQUENCE_OPTION } from "../event-filters.ts";
import { EXIT } from "../exit-codes.ts";
import { CLI_LONG_ANSWER_MS_MAX } from "../limits.ts";
import { progressFor } from "../progress.ts";
import { queryFrom } from "../query.ts";
import { jsonOption, QUIET_OPTION, SERVICE_OPTIONS } from "../shared-options.ts";

const PARAMETERS: readonly OptionSpec[] = [
  {
    flag: "--format",
    value: "format",
    description: "form of the file; default ndjson",
    choices: ["ndjson", "csv"],
  },
  ...EVENT_FILTER_OPTIONS,
  MIN_SEQUENCE_OPTION,
];

export const EXPORT: CommandSpec = {
  name: "export",
  summary: "Write all events that match to a file",
  description: [
    "In the order of the log. The file gets its name when it is whole: a transfer that breaks off leaves none. That it was taken, and with which filters, is an event in Prooftrail's own log.",
  ],
  options: [
    { flag: "--output", value: "file", description: "where to write; default standard output", isFile: true },
    FORCE_OPTION,
    ...PARAMETERS,
    ...SERVICE_OPTIONS,
    jsonOption("with --output, one JSON document about the file; errors as JSON too"),
    QUIET_OPTION,
  ],
  examples: [
    {
      says: "one system's events as a table",
      command: "prooftrail export --format csv --asset-id credit_model --output events.csv",
    },
    { says: "all of them, compressed", command: "prooftrail export | gzip > events.ndjson.gz" },
  ],
  run: async (input, context) => {
    const path = input.text("--output");
    const api = await openApi(input, context);
    const signal = context.interruption();
    await using target = path === undefined ? undefined : await openTarget(path, input.isSet("--force"));
    const isCsv = input.text("--format") === "csv";
    const response = await api.open({
      path: "/v1/export",
      query: queryFrom(input, PARAMETERS),
      signal,
      timeoutMs: CLI_LONG_ANSWER_MS_MAX,
      mediaType: isCsv ? "text/csv" : "application/x-ndjson",
    });
    const lastSequence = Number(response.headers.get("x-prooftrail-last-sequence"));
    const rows = createRowCounter(isCsv);
    let bytes = 0;
    // With the file on the same terminal there is no progress bar, because both would share a line.
    const isQuiet = path === undefined && context.out.isTerminal;
    const progress = progressFor(input, context, { what: "exporting", unit: "events", isQuiet });
    const options = {
      response,
      signal,
      onBytes: (chunk: Uint8Array) => {
        bytes += chunk.length;
        rows.take(chunk);
        progress.report({ count: rows.count(), bytes });
      },
    };
    try {
      if (target) await target.fill(options);
      else await downloadTo(context.out, { ...options, print: isCsv ? createPrintableCsv() : printableJson });
    } finally {
      progress.end();
    }
    if (path === undefined) return EXIT.ok;
    const about = { path, events: rows.count(), bytes, last_sequence: lastSequence };
    await context.out.write(
      input.isSet("--json")
        ? `${JSON.stringify({ data: about })}\n`
        : `${printable(path)} has ${rows.count()} ${rows.count() === 1 ? "event" : "events"}, ${sizeText(bytes)}, up to sequence ${lastSequence} of the log.\n`,
    );
    return EXIT.ok;
  },
};

const LINE_FEED = 0x0a;
const QUOTE = 0x22;

/** Counts rows without parsing them: lines of NDJSON; for CSV (RFC 4180) lines that end outside quotation marks, without the heading. */
const createRowCounter = (isCsv: boolean) => {
  let count = isCsv ? -1 : 0;
  let isQuoted = false;
  return {
    take: (chunk: Uint8Array) => {
      for (const byte of chunk) {
        if (isCsv && byte === QUOTE) isQuoted = !isQuoted;
        else if (byte === LINE_FEED && !isQuoted) count++;
      }
    },
    count: () => Math.max(0, count),
  };
};
