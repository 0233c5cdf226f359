/** How far a long command is: a bar for a person at a terminal, a line every few seconds for a file, nothing with --quiet, nor where JSON goes there. On standard error. */

import { sizeText } from "../terminal/size-text.ts";
import { cutTo, padded } from "../terminal/text-width.ts";
import type { Input } from "./command.ts";
import type { Context, Writer } from "./context.ts";
import { PROGRESS_LINE_MS } from "./limits.ts";

export interface Report {
  /** What was done, and of how many where that is known. */
  readonly count: number;
  readonly of?: number;
  /** Bytes, where how far it is follows from them rather than from the count. */
  readonly bytes?: number;
  readonly bytesOf?: number;
}

export interface Progress {
  report(report: Report): void;
  /** The last report stays; what is printed next begins on a line of its own. */
  end(): void;
}

export interface ProgressOptions {
  readonly err: Writer;
  /** `sending`, `rebuilding cases`. */
  readonly what: string;
  /** Of what is counted; nothing where `what` says it. */
  readonly unit?: string;
  readonly isQuiet?: boolean;
  /** What reads standard error, unless it is a person, reads JSON there and nothing else. */
  readonly isJson?: boolean;
  /** What was done before this run: it does not count for the rate. */
  readonly before?: Report;
  /** Milliseconds that only grow. */
  readonly elapsedMs: () => number;
}

/** Of a command that has the options --json and --quiet. */
export const progressFor = (
  input: Input,
  { err }: Context,
  told: Pick<ProgressOptions, "what" | "unit" | "before" | "isQuiet">,
): Progress =>
  createProgress({
    ...told,
    err,
    isQuiet: told.isQuiet === true || input.isSet("--quiet"),
    isJson: input.isSet("--json"),
    elapsedMs: () => performance.now(),
  });

const BAR_COLUMNS = 20;

export const createProgress = (options: ProgressOptions): Progress => {
  const { err, elapsedMs, isQuiet = false, isJson = false } = options;
  const isSilent = isQuiet || (isJson && !err.isTerminal);
  const startedMs = elapsedMs();
  let saidMs = startedMs;
  let shown = "";
  let last: Report | undefined;
  const say = (report: Report): void => {
    const text = progressText(options, report, (elapsedMs() - startedMs) / 1000);
    if (text === shown) return;
    shown = text;
    const line = `${barText(shareOf(report))}${text}`;
    // One column less: a terminal may go to the next line by itself in the last.
    void err.write(
      err.isTerminal ? `\r${padded(cutTo(line, err.columns - 1), err.columns - 1)}` : `${text}\n`,
    );
  };
  return {
    report: (report) => {
      last = report;
      if (isSilent) return;
      const everyMs = err.isTerminal ? TERMINAL_MS : PROGRESS_LINE_MS;
      if (elapsedMs() - saidMs < everyMs) return;
      saidMs = elapsedMs();
      say(report);
    },
    end: () => {
      // What was over before anything was said needs no last word.
      if (shown === "" || !last) return;
      say(last);
      last = undefined;
      if (err.isTerminal) void err.write("\n");
    },
  };
};

/** A terminal is drawn anew a few times a second, and not at all by what is over at once. */
const TERMINAL_MS = 250;

const shareOf = ({ count, of, bytes, bytesOf }: Report): number | undefined => {
  const [done, all] = bytesOf === undefined ? [count, of] : [bytes ?? 0, bytesOf];
  if (all === undefined) return undefined;
  return all === 0 ? 1 : Math.min(1, done / all);
};

const barText = (share: number | undefined): string => {
  if (share === undefined) return "";
  const full = Math.round(share * BAR_COLUMNS);
  return `${"█".repeat(full)}${"░".repeat(BAR_COLUMNS - full)} `;
};

export const progressText = (
  { what, unit, before = { count: 0 } }: Pick<ProgressOptions, "what" | "unit" | "before">,
  report: Report,
  seconds: number,
): string => {
  const { count, of, bytes, bytesOf } = report;
  const rate = (count - before.count) / Math.max(seconds, 0.001);
  const share = shareOf(report);
  const all = { ...(of !== undefined && { of }), ...(bytesOf !== undefined && { bytesOf }) };
  const shareBefore = shareOf({ ...before, ...all }) ?? 0;
  const pace = share === undefined ? 0 : (share - shareBefore) / Math.max(seconds, 0.001);
  const parts = [
    `${what} ${counted(count)}${of === undefined ? "" : ` of ${counted(of)}`}${unit === undefined ? "" : ` ${unit}`}`,
    `${counted(Math.round(rate))}/s`,
    ...(bytes === undefined ? [] : [sizeText(bytes, bytesOf)]),
    ...(share === undefined || pace <= 0 ? [] : [`${durationText(Math.ceil((1 - share) / pace))} left`]),
  ];
  return parts.join(", ");
};

const counted = (count: number): string => count.toLocaleString("en-US");

const durationText = (seconds: number): string => {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
};
