/** `prooftrail send`: sends one event, or all events of a file or a pipe. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { printable } from "../../runtime/printable.ts";
import { uuidV7 } from "../../runtime/uuid.ts";
import type { Api } from "../api.ts";
import { openApi } from "../api.ts";
import { durationComplaint, durationSeconds } from "../argument-values.ts";
import type { CommandSpec, Input } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { failure } from "../failure.ts";
import { SEND_RETRY_MS_DEFAULT } from "../limits.ts";
import { tellNotice } from "../output.ts";
import { progressFor } from "../progress.ts";
import { createBatchSender } from "../sending/batch-sender.ts";
import { openInput } from "../sending/input-file.ts";
import { openRejections } from "../sending/rejections.ts";
import { type ResumePoint, readResumePoint, writeResumePoint } from "../sending/resume-point.ts";
import { fillEvent, sendInput, type Totals } from "../sending/send-input.ts";
import { jsonOption, QUIET_OPTION, SERVICE_OPTIONS } from "../shared-options.ts";

export const SEND: CommandSpec = {
  name: "send",
  summary: "Send events from a file or a pipe",
  description: [
    "NDJSON: one event per line. An event that is sent again under the same event_id is stored once: within ten minutes always, later with --resent. What cannot be taken now is retried; what is refused is reported with its line.",
    "With --resume an import that was stopped for any reason continues after the last confirmed batch.",
  ],
  arguments: [
    { name: "file", description: "the file; - or nothing is standard input", isOptional: true, isFile: true },
  ],
  options: [
    {
      flag: "--resume",
      value: "file",
      description:
        "keep in this file how far the import is, and go on from there if the file is there already",
      isFile: true,
    },
    {
      flag: "--rejected",
      value: "file",
      description: "add refused events to this file as NDJSON, with line and reason",
      isFile: true,
    },
    {
      flag: "--fill",
      description: "make an event_id and a timestamp for events without one; not with --resume or --resent",
    },
    { flag: "--resent", description: "the events may have been sent before, however long ago" },
    {
      flag: "--retry-for",
      value: "time",
      description: `how long to try again without progress; ${SEND_RETRY_MS_DEFAULT / 60_000}m unless told`,
      complaint: durationComplaint,
    },
    ...SERVICE_OPTIONS,
    jsonOption("one JSON document with the counts; refused events and warnings as NDJSON on standard error"),
    QUIET_OPTION,
  ],
  examples: [
    { says: "one event", command: "prooftrail send event.json" },
    {
      says: "an import that can be stopped and started again",
      command: "prooftrail send events.ndjson --resume events.resume \\\n  --rejected rejected.ndjson",
    },
    { says: "what another program writes", command: "my-program | prooftrail send --fill" },
  ],
  run: async (input, context) => {
    await checkUse(input);
    const api = await openApi(input, context);
    const resume = input.text("--resume");
    const from = resume === undefined ? undefined : await resumePointOf(resume, api);
    using file = await openInput(input.argument("file"), context);
    await using rejections = await openRejections(input, context);
    const before = from ? from.accepted + from.rejected : 0;
    const progress = progressFor(input, context, { what: "sending", unit: "events", before });
    let confirmed: Totals | undefined;
    try {
      const totals = await sendInput({
        input: file,
        sender: senderFor(api, input, context),
        rejections,
        warn: (warning) =>
          context.err.write(
            input.isSet("--json")
              ? `${JSON.stringify(warning)}\n`
              : `line ${warning.line}: ${printable(warning.path)}: ${printable(warning.message)} (told once)\n`,
          ),
        from,
        isResent: input.isSet("--resent"),
        fill: input.isSet("--fill") ? (text) => fillEvent(text, fillingAt(context)) : undefined,
        save: async ({ sequence, ...counts }, place) => {
          if (resume !== undefined)
            await writeResumePoint(resume, { ...place, ...counts, url: api.address.url });
        },
        onTotals: (told) => {
          confirmed = told;
          progress.report({
            count: told.accepted + told.rejected,
            bytes: file.bytesRead(),
            ...(file.size !== undefined && { bytesOf: file.size }),
          });
        },
      });
      progress.end();
      const resumed = from ? ` Went on after line ${from.line}.` : "";
      await context.out.write(
        input.isSet("--json")
          ? `${JSON.stringify({ data: totals })}\n`
          : `${totalsText(totals)}.${resumed}\n`,
      );
      return totals.rejected === 0 ? EXIT.ok : EXIT.failed;
    } catch (error) {
      progress.end();
      if (confirmed) {
        const json = {
          code: "stopped",
          message: `Stopped. So far: ${totalsText(confirmed)}.`,
          data: confirmed,
        };
        await context.err.write(`${input.isSet("--json") ? JSON.stringify(json) : json.message}\n`);
      }
      throw error;
    }
  },
};

/** An import reads one file and writes two others. If two of them were the same, it would overwrite what it must keep. */
const checkUse = async (input: Input): Promise<void> => {
  if (input.isSet("--fill") && (input.text("--resume") !== undefined || input.isSet("--resent")))
    throw failure(
      "wrong_use",
      "--fill goes neither with --resume nor with --resent: an event that gets another event_id each time is another event each time.",
      "Give the events an event_id and a timestamp in the file.",
    );
  const known = new Map<string, string>();
  const path = input.argument("file");
  for (const [as, name] of [
    ["the input", path === "-" ? undefined : path],
    ["--resume", input.text("--resume")],
    ["--rejected", input.text("--rejected")],
  ] as const) {
    const file = name === undefined ? undefined : await identityOf(name);
    if (file === undefined) continue;
    const before = known.get(file);
    if (before !== undefined)
      throw failure(
        "wrong_use",
        `${name} is named twice, as ${before} and as ${as}.`,
        "Name a file of its own for each.",
      );
    known.set(file, as);
  }
};

/** Pipes and terminals are exempt: two of the files may share one. */
const identityOf = async (path: string): Promise<string | undefined> => {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (!found) return resolve(path);
  return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
};

const resumePointOf = async (path: string, { address }: Api): Promise<ResumePoint | undefined> => {
  const point = await readResumePoint(path);
  if (point && point.url !== address.url)
    throw failure(
      "another_input",
      `${path} is of an import to ${point.url}, and this one goes to ${address.url}.`,
      "Name another file with --resume, or the same --url.",
    );
  return point;
};

const senderFor = (api: Api, input: Input, context: Context) => {
  const retryFor = input.text("--retry-for");
  return createBatchSender({
    api,
    signal: context.interruption(),
    retryForMs: retryFor === undefined ? SEND_RETRY_MS_DEFAULT : (durationSeconds(retryFor) ?? 0) * 1000,
    random: context.random,
    now: context.now,
    elapsedMs: () => performance.now(),
    onRetry: ({ document }) => {
      if (!input.isSet("--quiet"))
        void tellNotice(context, input, { code: "retrying", message: `${document.detail} Trying again.` });
    },
  });
};

const fillingAt = ({ now }: Context) => ({ eventId: uuidV7, timestamp: () => now().toISOString() });

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
