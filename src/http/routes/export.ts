import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { ActionRecorder } from "../../access/action.ts";
import type { ExportAction } from "../../administration/system-events.ts";
import type { EventConditions, StoredEvent } from "../../projections/events/queries.ts";
import { EVENTS_VIEW } from "../../projections/events/tables.ts";
import { walkEvents } from "../../projections/events/walk.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { fileTime, recordDownload, TOO_MANY_EXPORTS } from "../downloads.ts";
import { EVENT_CSV_COLUMNS, eventCsvRow, eventCsvStart } from "../event-csv.ts";
import { EVENT_FILTER_PARAMETERS, readEventFilter } from "../event-filter.ts";
import { type Call, type Guard, invalidKey } from "../guard.ts";
import type { OpenStream, OpenStreams } from "../open-streams.ts";
import { describe, type Operation } from "../openapi.ts";
import { pagedBody } from "../paged-body.ts";
import { problem } from "../problem.ts";
import { readQuery } from "../query.ts";
import { MIN_SEQUENCE, onceSeen, parameter, readMinSequence, sequenceWait } from "../reading.ts";
import { requestUrl } from "../request-url.ts";
import { STORED_EVENT_EXAMPLE, storedEventLine } from "../stored-event.ts";
import { successStream } from "../success.ts";

interface Dependencies {
  readonly guard: Guard;
  readonly views: ViewStore;
  readonly exports: OpenStreams;
  readonly recorder: ActionRecorder<ExportAction>;
  readonly logger: Logger;
  readonly now: () => Date;
}

export const exportRoutes = (dependencies: Dependencies) =>
  new Elysia({ prefix: "/v1" }).get(
    "/export",
    dependencies.guard("events:read", (call) => getExport(dependencies, call)),
    { detail: describe(EXPORT) },
  );

interface Format {
  readonly mediaType: string;
  readonly start: () => string;
  readonly row: (stored: StoredEvent) => string;
}

const FORMATS: Readonly<Record<"ndjson" | "csv", Format>> = {
  ndjson: { mediaType: "application/x-ndjson", start: () => "", row: storedEventLine },
  csv: { mediaType: "text/csv; charset=utf-8", start: eventCsvStart, row: eventCsvRow },
};

const LAST_SEQUENCE_HEADER = "x-prooftrail-last-sequence";

const getExport = async (
  { views, exports, recorder, now, logger }: Dependencies,
  call: Call,
): Promise<Response> => {
  const { request, context, principal } = call;
  const query = readQuery(request.url);
  const name = query.choice("format", ["ndjson", "csv"], "ndjson");
  const conditions = readEventFilter(query);
  const awaited = sequenceWait(readMinSequence(query));
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const view = EVENTS_VIEW;
  const end = await onceSeen({ views, projections: [view], awaited }, async () => {
    await call.madeViews.check([view]);
    return views.position(view);
  });
  if (end === undefined) return problem(context, "view_behind");
  const format = FORMATS[name];
  const answer = {
    requestId: context.requestId,
    mediaType: format.mediaType,
    headers: {
      "content-disposition": `attachment; filename="prooftrail-${principal.tenant}-${fileTime(now())}.${name}"`,
      [LAST_SEQUENCE_HEADER]: String(end),
    },
  };
  if (request.method === "HEAD") return successStream({ ...answer, body: null });
  // Checked after the wait for `min_sequence`: the log must not record an export that nobody gets.
  if (!call.isStillAllowed()) return invalidKey(context);
  const open = exports.open(principal);
  if (!open) return problem(context, "overloaded", TOO_MANY_EXPORTS);
  const unrecorded = await recordDownload(recorder, call, {
    what: "export",
    details: { format: name, filters: filtersAsked(request.url), last_sequence: end },
  });
  if (unrecorded) {
    open.close();
    return unrecorded;
  }
  return successStream({
    ...answer,
    body: exportBody({ views, logger }, { call, conditions, end, format, open }),
  });
};

/** All parameters except those for format and wait. Unknown ones were refused before. */
const filtersAsked = (url: string): Readonly<Record<string, string[]>> => {
  const { searchParams } = requestUrl(url);
  const names = new Set(searchParams.keys());
  for (const name of ["format", "min_sequence"]) names.delete(name);
  return Object.fromEntries(Array.from(names, (name) => [name, searchParams.getAll(name)]));
};

/** Any failure breaks the export off: one that ends properly is complete. */
const exportBody = (
  { views, logger }: Pick<Dependencies, "views" | "logger">,
  parts: {
    readonly call: Call;
    readonly conditions: EventConditions;
    readonly end: number;
    readonly format: Format;
    readonly open: OpenStream;
  },
): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const { call, conditions, end, format, open } = parts;
  const { context, principal, isStillAllowed } = call;
  const walk = walkEvents({ views, tenant: principal.tenant, conditions, after: 0 });
  let start = format.start();
  const next = async (): Promise<string | undefined> => {
    if (walk.position() >= end && start === "") return undefined;
    if (!isStillAllowed()) throw new Error("the key has ended");
    const rows = await walk.next(end);
    let text = start;
    for (const row of rows) text += format.row(row);
    start = "";
    return text;
  };
  const failed = (error: unknown): void =>
    logger.warn("an export was broken off", { request_id: context.requestId, detail: String(error) });
  return pagedBody({ next, closed: open.close, failed, keepOpen: context.keepOpen });
};

const EXAMPLE = {
  sequence: STORED_EVENT_EXAMPLE.sequence,
  tenant: STORED_EVENT_EXAMPLE.tenant,
  receivedAt: STORED_EVENT_EXAMPLE.received_at,
  eventText: JSON.stringify(STORED_EVENT_EXAMPLE.event),
};

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
  scope: "events:read",
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
    other: { mediaType: "text/csv", example: eventCsvStart() + eventCsvRow(EXAMPLE) },
    headers: {
      "X-Prooftrail-Last-Sequence": {
        schema: { type: "integer", format: "int64", minimum: 0 },
        description: "Up to which sequence of the log the file goes.",
      },
    },
  },
  problems: ["invalid_request", "view_behind", "overloaded", "log_unavailable"],
};
