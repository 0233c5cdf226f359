/** Shared by the answers that are files. */
import type { ActionRecorder } from "../../access/action.ts";
import type { ExportAction } from "../../access/administration/system-events.ts";
import { EXPORTS_MAX, EXPORTS_PER_KEY_MAX, EXPORTS_PER_TENANT_MAX } from "../../limits.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { actorOf, type Call } from "./call.ts";
import { invalidKey } from "./guard.ts";
import type { OpenStreams } from "./open-streams.ts";
import { pagedBody } from "./paged-body.ts";
import { problem } from "./problem.ts";
import { requestUrl } from "./request-url.ts";
import { successStream } from "./success.ts";

/** `20261120T100000Z`, valid in every file system. */
export const fileTime = (time: Date): string => `${time.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;

export const TOO_MANY_EXPORTS = {
  detail: `A key may have ${EXPORTS_PER_KEY_MAX} exports running at once, a tenant ${EXPORTS_PER_TENANT_MAX}, and this instance ${EXPORTS_MAX} in all.`,
};

/**
 * Call this before the first byte is sent: a reader that breaks a download off has read part of it. If the log does not take the record,
 * returns the answer that says so.
 */
export const recordDownload = async (
  recorder: ActionRecorder<ExportAction>,
  call: Call,
  taken: { readonly what: "export" | "bundle"; readonly details: ExportAction["details"] },
): Promise<Response | undefined> => {
  const { what, details } = taken;
  const recorded = await recorder.carryOut({
    by: actorOf(call),
    action: { type: "system.export_taken", tenant: call.principal.tenant, details },
    work: async () => ({ kind: "written" }),
  });
  if (recorded.kind === "written") return undefined;
  return problem(call.context, "log_unavailable", {
    detail: `The log did not take the record of this ${what}, and without it none is made. Ask again.`,
  });
};

export interface ExportDependencies {
  readonly exports: OpenStreams;
  readonly recorder: ActionRecorder<ExportAction>;
  readonly logger: Logger;
  readonly now: () => Date;
}

const MEDIA_TYPES = { csv: "text/csv; charset=utf-8", ndjson: "application/x-ndjson" } as const;
export type FileFormat = keyof typeof MEDIA_TYPES;

export interface ExportFile {
  /** Of the list; absent for events. */
  readonly name?: string;
  readonly format: FileFormat;
  /** Up to where the log is in the file; absent for what is not made from the log. */
  readonly lastSequence?: number;
  /** The next text, undefined at the end. Any failure breaks the file off: one that ends properly is complete. */
  next(): Promise<string | undefined>;
}

const LAST_SEQUENCE_HEADER = "x-prooftrail-last-sequence";

/** An export as a file: counted as one that runs, recorded in the log, and then streamed. */
export const answerExport = async (
  { exports, recorder, logger, now }: ExportDependencies,
  call: Call,
  { name, format, lastSequence, next }: ExportFile,
): Promise<Response> => {
  const { request, context, principal, isStillAllowed } = call;
  const named = ["prooftrail", principal.tenant, ...(name === undefined ? [] : [name]), fileTime(now())];
  const answer = {
    requestId: context.requestId,
    mediaType: MEDIA_TYPES[format],
    headers: {
      "content-disposition": `attachment; filename="${named.join("-")}.${format}"`,
      ...(lastSequence !== undefined && { [LAST_SEQUENCE_HEADER]: String(lastSequence) }),
    },
  };
  if (request.method === "HEAD") return successStream({ ...answer, body: null });
  // Checked after the wait for `min_sequence`: the log must not record an export that nobody gets.
  if (!isStillAllowed()) return invalidKey(context);
  const open = exports.open(principal);
  if (!open) return problem(context, "overloaded", TOO_MANY_EXPORTS);
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
      logger.warn("an export was broken off", { request_id: context.requestId, detail: String(error) }),
    keepOpen: context.keepOpen,
  });
  return successStream({ ...answer, body });
};

/** All parameters except those for the form and the wait. Unknown ones were refused before. */
const filtersAsked = (url: string): Readonly<Record<string, string[]>> => {
  const { searchParams } = requestUrl(url);
  const names = new Set(searchParams.keys());
  for (const name of ["format", "min_sequence", "order"]) names.delete(name);
  return Object.fromEntries(Array.from(names, (name) => [name, searchParams.getAll(name)]));
};
