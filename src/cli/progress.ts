/**
 * Progress of a long command, on standard error: a bar on a terminal, a line every few seconds in a file, nothing with --quiet or if standard error
 * carries JSON.
 */

import { sizeText } from "../terminal/size-text.ts";
import { cutTo, padded } from "../terminal/text-width.ts";
import type { Input } from "./command.ts";
import type { Context, Writer } from "./context.ts";
import { PROGRESS_LINE_MS } from "./limits.ts";

export interface Report {
  /** How much is done, and of how many if that is known. */
  readonly count: number;
  readonly of?: number;
  /** Bytes, if the progress follows from them rather than from the count. */
  readonly bytes?: number;
  readonly bytesOf?: number;
}

export interface Progress {
  report(report: Report): void;
  /** Keeps the last report; further output starts on a new line. */
  end(): void;
}

export interface ProgressOptions {
  readonly err: Writer;
  /** What is being done, such as `sending` or `rebuilding cases`. */
  readonly what: string;
  /** The unit that is counted; empty if `what` already says it. */
  readonly unit?: string;
  readonly isQuiet?: boolean;
  /** Programs that read standard error expect only JSON there. */
  readonly isJson?: boolean;
  /** How much was done before this run: it does not count for the rate. */
  readonly before?: Report;
  /** A monotonic clock, in milliseconds. */
  readonly elapsedMs: () => number;
}

/** For a command with the options --json and --quiet. */
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
    // One column less: some terminals wrap after the last column.
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
      // Work that ended before the first report needs no last one.
      if (shown === "" || !last) return;
      say(last);
      last = undefined;
      if (err.isTerminal) void err.write("\n");
    },
  };
};

/** A terminal is redrawn a few times a second, and not at all for work that ends at once. */
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
