import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { EventConditions, StoredEvent } from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { walkEvents } from "../../views/events/walk.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { EVENT_LIST } from "../http/access.ts";
import type { Call } from "../http/call.ts";
import {
  answerExport,
  type ExportDependencies,
  type FileFormat,
  TOO_MANY_EXPORTS,
} from "../http/downloads.ts";
import { EVENT_CSV_COLUMNS, eventCsvRow, eventCsvStart } from "../http/event-csv.ts";
import { EVENT_FILTER_PARAMETERS, readEventFilter } from "../http/event-filter.ts";
import type { Guard } from "../http/guard.ts";
import { describe, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import { MIN_SEQUENCE, onceSeen, parameter, readMinSequence, sequenceWait } from "../http/reading.ts";
import { STORED_EVENT_EXAMPLE, storedEventLine } from "../http/stored-event.ts";

interface Dependencies extends ExportDependencies {
  readonly guard: Guard;
  readonly views: ViewStore;
}

export const exportRoutes = (dependencies: Dependencies) =>
  new Elysia({ prefix: "/v1" }).get(
    "/export",
    dependencies.guard(EVENT_LIST, (call) => getExport(dependencies, call)),
    { detail: describe(EXPORT) },
  );

const FORMS: Readonly<
  Record<FileFormat, { readonly start: () => string; readonly row: (stored: StoredEvent) => string }>
> = {
  ndjson: { start: () => "", row: storedEventLine },
  csv: { start: eventCsvStart, row: eventCsvRow },
};

const getExport = async (dependencies: Dependencies, call: Call): Promise<Response> => {
  const query = readQuery(call.request.url);
  const format = query.choice("format", ["ndjson", "csv"], "ndjson");
  const conditions = readEventFilter(query);
  const minSequence = readMinSequence(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(call.context, "invalid_request", { errors });
  return exportEvents(dependencies, call, { format, conditions, minSequence });
};

/** All events that match, in the order of the log. */
export const exportEvents = async (
  dependencies: ExportDependencies & { readonly views: ViewStore },
  call: Call,
  asked: {
    readonly format: FileFormat;
    readonly conditions: EventConditions;
    readonly minSequence: number | undefined;
  },
): Promise<Response> => {
  const { views } = dependencies;
  const { format, conditions, minSequence } = asked;
  const view = EVENTS_VIEW;
  const awaited = sequenceWait(minSequence);
  const end = await onceSeen({ views, projections: [view], awaited }, async () => {
    await call.madeViews.check([view]);
    return views.position(view);
  });
  if (end === undefined) return problem(call.context, "view_behind");
  const walk = walkEvents({ views, tenant: call.principal.tenant, conditions, after: 0 });
  const form = FORMS[format];
  let start = form.start();
  const next = async (): Promise<string | undefined> => {
    if (walk.position() >= end && start === "") return undefined;
    const rows = await walk.next(end);
    let text = start;
    for (const row of rows) text += form.row(row);
    start = "";
    return text;
  };
  return answerExport(dependencies, call, { format, lastSequence: end, next });
};

const EXAMPLE = {
  sequence: STORED_EVENT_EXAMPLE.sequence,
  tenant: STORED_EVENT_EXAMPLE.tenant,
  receivedAt: STORED_EVENT_EXAMPLE.received_at,
  eventText: JSON.stringify(STORED_EVENT_EXAMPLE.event),
};

/** In both forms, for documentation. */
export const EVENT_FILE_FORMS = [
  { mediaType: "text/csv", example: eventCsvStart() + eventCsvRow(EXAMPLE) },
  { mediaType: "application/x-ndjson", example: storedEventLine(EXAMPLE) },
];

const EXPORT: Operation = {
  id: "exportEvents",
  tag: "Reading",
  summary: "Export events",
  description: [
    "All events that match, as a file, in the order of the log: those that the view held at the start, up to the sequence in the header",
    "`X-Prooftrail-Last-Sequence`. The export and its filters are recorded as an event of the tenant `prooftrail-system`. If it cannot be finished, the connection is broken off: a file that ends properly is complete.",
    "\n\n`ndjson`: one event per line, in the form that other reads give. The event is as it was sent, byte for byte; only raw line breaks",
    "between its values, which one line cannot hold, are spaces.",
    `\n\n\`csv\`: RFC 4180 in UTF-8 with a byte order mark. The columns: ${EVENT_CSV_COLUMNS.map((column) => `\`${column}\``).join(", ")}.`,
    "`event` is the text as it was sent; `tags` and `metadata` are texts from it. `legal_bases`, separated by spaces, and `subject_hash` are",
    "what the filters of these names find; `context_hash` and `outcome_hash` are also what clients send as `input_hash` and `output_hash`. A cell that a spreadsheet could take for a formula has an apostrophe in front.",
    `\n\n${TOO_MANY_EXPORTS.detail}`,
  ].join(" "),
  access: EVENT_LIST,
  parameters: [
    parameter("format", "Form of the file.", { type: "string", enum: ["ndjson", "csv"], default: "ndjson" }),
    ...EVENT_FILTER_PARAMETERS,
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "The file.",
    schema: Type.String(),
    example: storedEventLine(EXAMPLE),
    mediaType: "application/x-ndjson",
    others: EVENT_FILE_FORMS.filter(({ mediaType }) => mediaType === "text/csv"),
    headers: {
      "X-Prooftrail-Last-Sequence": {
        schema: { type: "integer", format: "int64", minimum: 0 },
        description: "Up to which sequence of the log the file goes.",
      },
    },
  },
  problems: ["invalid_request", "view_behind", "overloaded", "log_unavailable"],
};
