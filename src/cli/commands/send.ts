/** `prooftrail send`: sends one event, or all events of a file or a pipe. */

import { uuidV7 } from "../../runtime/uuid.ts";
import { printable } from "../../terminal/printable.ts";
import type { Api } from "../api.ts";
import { durationComplaint, durationSeconds } from "../argument-values.ts";
import type { CommandSpec, Input } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { failure } from "../failure.ts";
import { SEND_RETRY_MS_DEFAULT } from "../limits.ts";
import { tellNotice } from "../output.ts";
import { progressFor, type Report } from "../progress.ts";
import { createBatchSender } from "../sending/batch-sender.ts";
import { checkFilesApart } from "../sending/files-apart.ts";
import { fillEvent } from "../sending/fill.ts";
import { openInput } from "../sending/input-file.ts";
import { openRejections } from "../sending/rejections.ts";
import { type ResumePoint, readResumePoint, writeResumePoint } from "../sending/resume-point.ts";
import { sendInput, type Totals, type Warning } from "../sending/send-input.ts";
import { openApi } from "../service-command.ts";
import { jsonOption, QUIET_OPTION, SERVICE_OPTIONS } from "../shared-options.ts";

export const SEND: CommandSpec = {
  name: "send",
  summary: "Send events from a file or a pipe",
  description: [
    "A file with one JSON object, or NDJSON: one event per line. An event that is sent again under the same event_id is stored once: within ten minutes always, later with --resent. What cannot be taken now is retried; what is refused is reported with its line.",
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
    checkUse(input);
    await checkFiles(input);
    const api = await openApi(input, context);
    const from = await resumePointFor(input, api);
    using file = await openInput(input.argument("file"), context);
    const signal = context.interruption();
    await using rejections = await openRejections(input, context);
    const before = reportOf(from);
    const progress = progressFor(input, context, { what: "sending", unit: "events", before });
    let totals: Totals = { accepted: 0, duplicates: 0, rejected: 0, sequence: undefined };
    let atStart: Totals | undefined;
    let isDone = false;
    try {
      const resume = input.text("--resume");
      await sendInput({
        input: file,
        sender: senderFor(api, { input, context, signal }),
        rejections,
        warn: warner(context, input),
        api,
        from,
        isResent: input.isSet("--resent"),
        fill: input.isSet("--fill") ? filler(context) : undefined,
        save: resume === undefined ? undefined : (point) => writeResumePoint(resume, point),
        onProgress: progress.report,
        onTotals: (told) => {
          atStart ??= told;
          totals = told;
        },
      });
      isDone = true;
    } finally {
      progress.end();
      if (!isDone && atStart && totals !== atStart) await tellStop(context, input, totals);
    }
    await tellTotals(context, input, { totals, from });
    return totals.rejected === 0 ? EXIT.ok : EXIT.failed;
  },
};

const checkUse = (input: Input): void => {
  const [fills, isAgain] = [
    input.isSet("--fill"),
    input.text("--resume") !== undefined || input.isSet("--resent"),
  ];
  if (fills && isAgain)
    throw failure(
      "wrong_use",
      "--fill goes neither with --resume nor with --resent: an event that gets another event_id each time is another event each time.",
      "Give the events an event_id and a timestamp in the file.",
    );
};

/** Otherwise refused events would become input, or the resume point would overwrite the file that they go to. */
const checkFiles = (input: Input): Promise<void> => {
  const path = input.argument("file");
  return checkFilesApart([
    ["the input", path === "-" ? undefined : path],
    ["--resume", input.text("--resume")],
    ["--rejected", input.text("--rejected")],
  ]);
};

const resumePointFor = async (input: Input, { address }: Api): Promise<ResumePoint | undefined> => {
  const path = input.text("--resume");
  const point = path === undefined ? undefined : await readResumePoint(path);
  if (point && point.url !== address.url)
    throw failure(
      "another_input",
      `${path} is of an import to ${point.url}, and this one goes to ${address.url}.`,
      "Name another file with --resume, or the same --url.",
    );
  return point;
};

const reportOf = (from: ResumePoint | undefined): Report =>
  from ? { count: from.accepted + from.rejected, bytes: from.offset } : { count: 0, bytes: 0 };

const senderFor = (api: Api, parts: { input: Input; context: Context; signal: AbortSignal }) => {
  const { input, context, signal } = parts;
  const retryFor = input.text("--retry-for");
  return createBatchSender({
    api,
    signal,
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

const filler =
  ({ now }: Context) =>
  (text: string): string =>
    fillEvent(text, { eventId: uuidV7, timestamp: () => now().toISOString() });

const events = (count: number): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? "event" : "events"}`;

const totalsText = ({ accepted, duplicates, rejected, sequence }: Totals): string =>
  [
    `${events(accepted)} stored`,
    ...(duplicates > 0
      ? [accepted === 1 ? "already before" : `${duplicates.toLocaleString("en-US")} of them already before`]
      : []),
    ...(rejected > 0 ? [`${rejected.toLocaleString("en-US")} refused`] : []),
    ...(sequence === undefined ? [] : [`${accepted === 1 ? "at" : "up to"} sequence ${sequence}`]),
  ].join(", ");

const warner =
  ({ err }: Context, input: Input) =>
  ({ line, path, code, message }: Warning): Promise<void> =>
    err.write(
      input.isSet("--json")
        ? `${JSON.stringify({ line, path, code, message })}\n`
        : `line ${line}: ${printable(path)}: ${printable(message)} (told once)\n`,
    );

const countsOf = ({ accepted, duplicates, rejected, sequence }: Totals) => ({
  accepted,
  duplicates,
  rejected,
  ...(sequence !== undefined && { sequence }),
});

const tellStop = async ({ err }: Context, input: Input, totals: Totals): Promise<void> => {
  const message = `Stopped. So far: ${totalsText(totals)}.`;
  const json = { code: "stopped", message, data: countsOf(totals) };
  await err.write(`${input.isSet("--json") ? JSON.stringify(json) : message}\n`);
};

const tellTotals = async (
  { out }: Context,
  input: Input,
  { totals, from }: { totals: Totals; from: ResumePoint | undefined },
): Promise<void> => {
  if (input.isSet("--json")) {
    await out.write(`${JSON.stringify({ data: countsOf(totals) })}\n`);
    return;
  }
  const resumed = from ? ` Went on after line ${from.line}.` : "";
  await out.write(`${totalsText(totals)}.${resumed}\n`);
};
