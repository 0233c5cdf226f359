/** `prooftrail send`: sends one event, or all events of a file or a pipe. */
import { resolve } from "node:path";
import { BATCH_EVENTS_MAX } from "../../limits.ts";
import { printable } from "../../runtime/printable.ts";
import { uuidV7 } from "../../runtime/uuid.ts";
import { type Api, openApi } from "../api.ts";
import { type CommandSpec, type Input, option, toggle } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT, type Failure, type FieldError, failure } from "../failure.ts";
import { SEND_RETRY_MS_DEFAULT } from "../limits.ts";
import { durationComplaint, durationSeconds, jsonOption, QUIET_OPTION, SERVICE_OPTIONS } from "../options.ts";
import { printAnswer, tellNotice } from "../output.ts";
import { progressFor } from "../progress.ts";
import { type Outcome, type SentEvent, sendBatch } from "../sending/batch-sender.ts";
import { type Entry, fillEvent, openInput, type Place, readBatches } from "../sending/input.ts";
import {
  openRejections,
  type ResumePoint,
  readResumePoint,
  writeResumePoint,
} from "../sending/kept-files.ts";

export const SEND: CommandSpec = {
  name: "send",
  summary: "Send events from a file or a pipe",
  description: [
    "NDJSON: one event per line. An event that is sent again under the same event_id is stored once: within ten minutes always, later with --resent. What cannot be accepted now is retried; what is refused is reported with its line.",
    "With --resume an import that was stopped for any reason continues after the last confirmed batch.",
  ],
  arguments: [
    { name: "file", description: "the file; - or nothing is standard input", isOptional: true, isFile: true },
  ],
  options: [
    option(
      "--resume",
      "file",
      "keep in this file how far the import is, and continue from there if it exists",
      { isFile: true },
    ),
    option("--rejected", "file", "add refused events to this file as NDJSON, with line and reason", {
      isFile: true,
    }),
    toggle("--fill", "add an event_id and a timestamp to events without one; not with --resume or --resent"),
    toggle("--resent", "the events may have been sent before, however long ago"),
    option(
      "--retry-for",
      "time",
      `how long to retry without progress; ${SEND_RETRY_MS_DEFAULT / 60_000}m by default`,
      { complaint: durationComplaint },
    ),
    ...SERVICE_OPTIONS,
    jsonOption("one JSON document with the counts; refused events and warnings as NDJSON on standard error"),
    QUIET_OPTION,
  ],
  examples: [
    ["one event", "prooftrail send event.json"],
    [
      "an import that can be stopped and started again",
      "prooftrail send events.ndjson --resume events.resume \\\n  --rejected rejected.ndjson",
    ],
    ["what another program writes", "my-program | prooftrail send --fill"],
  ],
  run: async (input, context) => {
    checkUse(input);
    const api = await openApi(input, context);
    const resume = input.text("--resume");
    const from = resume === undefined ? undefined : await resumePointOf(resume, api);
    const file = openInput(input.argument("file"), context);
    await using rejections = await openRejections(input, context);
    const { accepted = 0, duplicates = 0, rejected = 0 } = from ?? {};
    const progress = progressFor(input, context, { what: "sending", unit: "events" });
    const warn = warnerFor(input, context);
    let send: ReturnType<typeof senderFor> | undefined;
    let totals: Totals = { accepted, duplicates, rejected, sequence: undefined };
    let sent = 0;
    let isConfirmed = false;
    const save = async ({ line, sha256 }: Place): Promise<void> => {
      const { sequence: _, ...counts } = totals;
      if (resume !== undefined)
        await writeResumePoint(resume, { line, sha256, ...counts, url: api.address.url });
    };
    try {
      for await (const batch of readBatches(file.chunks, from)) {
        // Saved before the first batch, so that a run killed during it is known to have begun.
        if (!isConfirmed && !from) await save({ line: 0, sha256: "" });
        send ??= senderFor(api, input, context);
        // An earlier run ended with at most one batch in flight, which may be stored; what it sent before is behind the resume point.
        const outcome = await send(batch.entries, from !== undefined && sent < BATCH_EVENTS_MAX);
        sent += batch.entries.length;
        for (const warning of outcome.warnings) await warn(warning);
        await rejections.add(outcome.rejected);
        totals = {
          accepted: totals.accepted + outcome.accepted,
          duplicates: totals.duplicates + outcome.duplicates,
          rejected: totals.rejected + outcome.rejected.length,
          sequence: outcome.sequence ?? totals.sequence,
        };
        await save(batch);
        isConfirmed = true;
        progress.report({
          count: totals.accepted + totals.rejected,
          bytes: batch.bytes,
          ...(file.size !== undefined && { bytesOf: file.size }),
        });
      }
    } catch (error) {
      progress.end();
      if (isConfirmed) {
        const message = `Stopped. So far: ${totalsText(totals)}.`;
        const json = { code: "stopped", message, data: totals };
        await context.err.write(`${input.isSet("--json") ? JSON.stringify(json) : message}\n`);
      }
      throw error;
    }
    progress.end();
    const resumed = from ? ` Continued after line ${from.line}.` : "";
    await printAnswer(context, input, { data: totals }, () => `${totalsText(totals)}.${resumed}\n`);
    return totals.rejected === 0 ? EXIT.ok : EXIT.failed;
  },
};

interface Totals {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly sequence: number | undefined;
}

/** An import reads one file and writes two others. If two of them were the same, it would overwrite what it must keep. */
const checkUse = (input: Input): void => {
  if (input.isSet("--fill") && (input.text("--resume") !== undefined || input.isSet("--resent")))
    throw failure(
      "wrong_use",
      "--fill goes neither with --resume nor with --resent: an event with a new event_id each time is a new event each time.",
      "Give the events an event_id and a timestamp in the file.",
    );
  const named = [input.argument("file"), input.text("--resume"), input.text("--rejected")];
  const paths = named.flatMap((path) => (path === undefined || path === "-" ? [] : resolve(path)));
  const twice = paths.find((path, index) => paths.indexOf(path) < index);
  if (twice !== undefined)
    throw failure("wrong_use", `${twice} is named twice.`, "Name a different file for each.");
};

const resumePointOf = async (path: string, { address }: Api): Promise<ResumePoint | undefined> => {
  const point = await readResumePoint(path);
  if (point && point.url !== address.url)
    throw failure(
      "another_input",
      `${path} belongs to an import to ${point.url}, but this goes to ${address.url}.`,
      "Name another file with --resume, or the same --url.",
    );
  return point;
};

/** Sends the events among the entries. What it says about them names their lines. */
const senderFor = (api: Api, input: Input, context: Context) => {
  const retrySeconds = durationSeconds(input.text("--retry-for") ?? "");
  const parts = {
    api,
    signal: context.interruption(),
    retryForMs: retrySeconds === undefined ? SEND_RETRY_MS_DEFAULT : retrySeconds * 1000,
    random: context.random,
    elapsedMs: () => performance.now(),
    onRetry: ({ document }: Failure) => {
      if (!input.isSet("--quiet"))
        void tellNotice(context, input, { code: "retrying", message: `${document.detail} Trying again.` });
    },
  };
  return async (entries: readonly Entry[], mayBeStored: boolean): Promise<Outcome> => {
    const broken = entries.filter((entry) => "code" in entry);
    const events = entries.filter((entry): entry is SentEvent => !("code" in entry));
    const filled = input.isSet("--fill")
      ? events.map(({ line, text }) => ({ line, text: fillEvent(text, filling) }))
      : events;
    const outcome = await sendBatch(parts, filled, input.isSet("--resent") || mayBeStored);
    const rejected = [...broken, ...outcome.rejected].sort((one, other) => one.line - other.line);
    return { ...outcome, rejected };
  };
};

const WARNED_KINDS_MAX = 50;

/** Tells each kind once: a member that a client always sends would fill the screen. */
const warnerFor = (input: Input, { err }: Context) => {
  const warned = new Set<string>();
  return async ({ line, path, code, message }: FieldError & { readonly line: number }): Promise<void> => {
    const kind = `${code} ${path}`;
    if (warned.has(kind) || warned.size >= WARNED_KINDS_MAX) return;
    warned.add(kind);
    await err.write(
      input.isSet("--json")
        ? `${JSON.stringify({ line, path, code, message })}\n`
        : `line ${line}: ${printable(path)}: ${printable(message)} (shown once)\n`,
    );
  };
};

const filling = { eventId: uuidV7, timestamp: () => new Date().toISOString() };

const counted = (count: number): string => count.toLocaleString("en-US");

const totalsText = ({ accepted, duplicates, rejected, sequence }: Totals): string =>
  [
    `${counted(accepted)} ${accepted === 1 ? "event" : "events"} stored`,
    ...(duplicates > 0
      ? [accepted === 1 ? "already before" : `${counted(duplicates)} of them already before`]
      : []),
    ...(rejected > 0 ? [`${counted(rejected)} refused`] : []),
    ...(sequence === undefined ? [] : [`${accepted === 1 ? "at" : "up to"} sequence ${sequence}`]),
  ].join(", ");
