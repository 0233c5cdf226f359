/** `prooftrail export`: all events that match, as a file. */
import { printable, printableJson, STEERING } from "../../runtime/printable.ts";
import { sizeText } from "../../runtime/size-text.ts";
import { type CommandSpec, type OptionSpec, option } from "../command.ts";
import { download, FORCE_OPTION } from "../download.ts";
import { EVENT_FILTER_OPTIONS } from "../event-filters.ts";
import { EXIT } from "../failure.ts";
import { jsonOption, MIN_SEQUENCE_OPTION, QUIET_OPTION, SERVICE_OPTIONS } from "../options.ts";
import { printAnswer } from "../output.ts";

const PARAMETERS: readonly OptionSpec[] = [
  option("--format", "format", "form of the file; default ndjson", { choices: ["ndjson", "csv"] }),
  ...EVENT_FILTER_OPTIONS,
  MIN_SEQUENCE_OPTION,
];

export const EXPORT: CommandSpec = {
  name: "export",
  summary: "Write all events that match to a file",
  description: [
    "In the order of the log. The file gets its name when it is complete: a transfer that breaks off leaves none. The export and its filters are recorded as an event in Prooftrail's own log.",
  ],
  options: [
    option("--output", "file", "where to write; default standard output", { isFile: true }),
    FORCE_OPTION,
    ...PARAMETERS,
    ...SERVICE_OPTIONS,
    jsonOption("with --output, one JSON document about the file; errors as JSON too"),
    QUIET_OPTION,
  ],
  examples: [
    [
      "one system's events as a table",
      "prooftrail export --format csv --asset-id credit_model --output events.csv",
    ],
    ["all of them, compressed", "prooftrail export | gzip > events.ndjson.gz"],
  ],
  run: async (input, context) => {
    const path = input.text("--output");
    const isCsv = input.text("--format") === "csv";
    const rows = createRowCounter(isCsv);
    const { bytes, headers } = await download(input, context, {
      path: "/v1/export",
      parameters: PARAMETERS,
      mediaType: isCsv ? "text/csv" : "application/x-ndjson",
      progress: { what: "exporting", unit: "events" },
      report: (chunk, all) => ({ count: rows.take(chunk), bytes: all }),
      print: isCsv ? createPrintableCsv() : printableJson,
    });
    if (path === undefined) return EXIT.ok;
    const events = rows.count();
    const lastSequence = Number(headers.get("x-prooftrail-last-sequence"));
    const text = () =>
      `${printable(path)} has ${events} ${events === 1 ? "event" : "events"}, ${sizeText(bytes)}, up to sequence ${lastSequence} of the log.\n`;
    await printAnswer(context, input, { data: { path, events, bytes, last_sequence: lastSequence } }, text);
    return EXIT.ok;
  },
};

const LINE_FEED = 0x0a;
const QUOTE = 0x22;

/** Counts rows without parsing them: lines of NDJSON; for CSV (RFC 4180) lines that end outside quotation marks, without the heading. */
const createRowCounter = (isCsv: boolean) => {
  let count = isCsv ? -1 : 0;
  let isQuoted = false;
  const rows = (): number => Math.max(0, count);
  return {
    count: rows,
    take: (chunk: Uint8Array): number => {
      for (const byte of chunk) {
        if (isCsv && byte === QUOTE) isQuoted = !isQuoted;
        else if (byte === LINE_FEED && !isQuoted) count++;
      }
      return rows();
    },
  };
};

const LINE_END_OR_STEERING = new RegExp(`\\r?\\n|${STEERING.source}`, STEERING.flags);

/** CSV for a terminal, part by part: its line endings stay. */
export const createPrintableCsv = (): ((part: string) => string) => {
  let held = "";
  return (part) => {
    const text = held + part;
    // Whether it ends a line is known only with the next part.
    held = text.endsWith("\r") ? "\r" : "";
    return text
      .slice(0, text.length - held.length)
      .replaceAll(LINE_END_OR_STEERING, (found) => (found.endsWith("\n") ? found : printable(found)));
  };
};
