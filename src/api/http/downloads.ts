/** Answers that are files: counted while they run, and recorded in the log before their first byte. */
import type { TSchema } from "@sinclair/typebox";
import type { ActionRecorder } from "../../access/action.ts";
import type { ExportAction } from "../../access/administration/system-events.ts";
import { EXPORTS_MAX, EXPORTS_PER_KEY_MAX, EXPORTS_PER_TENANT_MAX } from "../../limits.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { type Answer, type Refusal, refuse, send } from "./answers.ts";
import { actorOf, type Call } from "./call.ts";
import { CSV_START, csvRow } from "./csv.ts";
import { exampleOf } from "./example.ts";
import { KEY_ENDED } from "./guard.ts";
import type { OpenStreams } from "./open-streams.ts";
import { pagedBody } from "./paged-body.ts";
import { requestUrl } from "./request-context.ts";

/** `20261120T100000Z`, valid in every file system. */
export const fileTime = (time: Date): string => `${time.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;

export const EXPORTS_AT_ONCE = `A key may have ${EXPORTS_PER_KEY_MAX} exports running at once, a tenant ${EXPORTS_PER_TENANT_MAX}, and this instance ${EXPORTS_MAX} in all.`;

/** Before the first byte is sent: a reader that aborts a download has read part of it. */
export const recordDownload = async (
  recorder: ActionRecorder<ExportAction>,
  call: Call,
  taken: { readonly what: "export" | "bundle"; readonly details: ExportAction["details"] },
): Promise<Refusal | undefined> => {
  const { what, details } = taken;
  const recorded = await recorder.carryOut({
    by: actorOf(call),
    action: { type: "system.export_taken", tenant: call.principal.tenant, details },
    work: async () => ({ kind: "written" }),
  });
  return recorded.kind === "written"
    ? undefined
    : refuse(
        "log_unavailable",
        `This ${what} could not be recorded in the log, so it was not created. Retry.`,
      );
};

interface ExportDependencies {
  readonly exports: OpenStreams;
  readonly recorder: ActionRecorder<ExportAction>;
  readonly logger: Logger;
  readonly now: () => Date;
}

const MEDIA_TYPES = { csv: "text/csv; charset=utf-8", ndjson: "application/x-ndjson" } as const;
export type FileFormat = keyof typeof MEDIA_TYPES;

/** The next text, undefined at the end. Any failure aborts the file: one that ends properly is complete. */
export type NextText = () => Promise<string | undefined>;

export const answerExport = async (
  { exports, recorder, logger, now }: ExportDependencies,
  call: Call,
  file: {
    readonly name?: string | undefined;
    readonly format: FileFormat;
    /** How far into the log the file goes; absent for what is not built from it. */
    readonly lastSequence?: number | undefined;
    readonly next: NextText;
  },
): Promise<Answer> => {
  const { request, context, principal, isStillAllowed } = call;
  const { name, format, lastSequence, next } = file;
  const named = ["prooftrail", principal.tenant, ...(name === undefined ? [] : [name]), fileTime(now())];
  const headers = {
    "content-disposition": `attachment; filename="${named.join("-")}.${format}"`,
    ...(lastSequence !== undefined && { "x-prooftrail-last-sequence": String(lastSequence) }),
  };
  if (request.method === "HEAD") return send(MEDIA_TYPES[format], null, headers);
  // Checked after the wait for `min_sequence`: the log must not record an export that nobody gets.
  if (!isStillAllowed()) return KEY_ENDED;
  const open = exports.open(principal);
  if (!open) return refuse("overloaded", EXPORTS_AT_ONCE);
  const unrecorded = await recordDownload(recorder, call, {
    what: "export",
    details: {
      ...(name !== undefined && { list: name }),
      format,
      filters: filtersAsked(request.url),
      ...(lastSequence !== undefined && { last_sequence: lastSequence }),
    },
  });
  if (unrecorded) {
    open.close();
    return unrecorded;
  }
  const body = pagedBody({
    next: async () => {
      if (!isStillAllowed()) throw new Error("the key has ended");
      return next();
    },
    closed: open.close,
    failed: (error) =>
      logger.warn("an export was aborted", { request_id: context.requestId, detail: String(error) }),
    keepOpen: context.keepOpen,
  });
  return send(MEDIA_TYPES[format], body, headers);
};

/** All parameters except those for the form and the wait. Unknown ones were refused before. */
const filtersAsked = (url: string): Readonly<Record<string, string[]>> => {
  const { searchParams } = requestUrl(url);
  const names = new Set(searchParams.keys());
  for (const name of ["format", "min_sequence", "order"]) names.delete(name);
  return Object.fromEntries(Array.from(names, (name) => [name, searchParams.getAll(name)]));
};

export type Entry = Readonly<Record<string, unknown>>;

export const entryFile = (
  format: FileFormat,
  columns: readonly string[],
  pages: AsyncGenerator<readonly Entry[]>,
): NextText => {
  const lineOf = format === "csv" ? (entry: Entry) => csvLine(columns, entry) : ndjsonLine;
  let start = format === "csv" ? CSV_START + csvRow(columns) : "";
  return async () => {
    const page = await pages.next();
    if (page.done && start === "") return undefined;
    const text = start + (page.done ? [] : page.value).map(lineOf).join("");
    start = "";
    return text;
  };
};

const ndjsonLine = (entry: Entry): string => `${JSON.stringify(entry)}\n`;

const csvLine = (columns: readonly string[], entry: Entry): string =>
  csvRow(
    columns.map((name) => {
      const value = entry[name] ?? "";
      return typeof value === "string" ? value : JSON.stringify(value);
    }),
  );

export const fileForms = (members: Readonly<Record<string, TSchema>>) => {
  const columns = Object.keys(members);
  const entry = (): Entry =>
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, exampleOf(schema, name)]));
  return [
    {
      mediaType: "text/csv",
      get example() {
        return CSV_START + csvRow(columns) + csvLine(columns, entry());
      },
    },
    {
      mediaType: "application/x-ndjson",
      get example() {
        return ndjsonLine(entry());
      },
    },
  ];
};
