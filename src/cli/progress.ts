/** Progress of a long command, on standard error: a bar on a terminal, a line every few seconds in a file. */
import { sizeText } from "../runtime/size-text.ts";
import type { Input } from "./command.ts";
import type { Context } from "./context.ts";
import { PROGRESS_LINE_MS } from "./limits.ts";

export interface Report {
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
  readonly what: string;
  readonly unit?: string;
  readonly isQuiet?: boolean;
}

/** A terminal is redrawn a few times a second, and not at all for work that ends at once. */
const TERMINAL_MS = 250;

/** For a command with the options --json and --quiet. */
export const progressFor = (
  input: Pick<Input, "isSet">,
  { err }: Pick<Context, "err">,
  { what, unit = "", isQuiet = false }: ProgressOptions,
  elapsedMs = () => performance.now(),
): Progress => {
  // Programs that read standard error with --json expect only JSON there.
  const isSilent = isQuiet || input.isSet("--quiet") || (input.isSet("--json") && !err.isTerminal);
  let saidMs = elapsedMs();
  let shown = "";
  let last: Report | undefined;
  /** What was there at the first report, such as what an earlier run sent, says nothing about the rate and the time that is left. */
  let first = { count: 0, share: 0, ms: 0 };
  const leftText = (share: number | undefined, seconds: number): string =>
    share === undefined || share <= first.share
      ? ""
      : `, ${durationText(Math.ceil(((1 - share) * seconds) / (share - first.share)))} left`;
  const say = (report: Report): void => {
    const { count, of, bytes, bytesOf } = report;
    const share = shareOf(report);
    const seconds = Math.max((elapsedMs() - first.ms) / 1000, 0.001);
    const rate = (count - first.count) / seconds;
    const text = `${what} ${counted(count)}${of === undefined ? "" : ` of ${counted(of)}`} ${unit}`.trimEnd();
    const size = bytes === undefined ? "" : `, ${sizeText(bytes, bytesOf)}`;
    const line = `${text}, ${counted(Math.round(rate))}/s${size}${leftText(share, seconds)}`;
    if (line === shown) return;
    shown = line;
    // One column less: some terminals wrap after the last column.
    const room = err.columns - 1;
    const bar = `\r${`${barText(share)}${line}`.slice(0, room).padEnd(room)}`;
    void err.write(err.isTerminal ? bar : `${line}\n`);
  };
  return {
    report: (report) => {
      if (!last) first = { count: report.count, share: shareOf(report) ?? 0, ms: elapsedMs() };
      last = report;
      if (isSilent || elapsedMs() - saidMs < (err.isTerminal ? TERMINAL_MS : PROGRESS_LINE_MS)) return;
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

const shareOf = ({ count, of, bytes, bytesOf }: Report): number | undefined => {
  const [done, all] = bytesOf === undefined ? [count, of] : [bytes ?? 0, bytesOf];
  if (all === undefined) return undefined;
  return all === 0 ? 1 : Math.min(1, done / all);
};

const BAR_COLUMNS = 20;

const barText = (share: number | undefined): string => {
  if (share === undefined) return "";
  const full = Math.round(share * BAR_COLUMNS);
  return `${"█".repeat(full)}${"░".repeat(BAR_COLUMNS - full)} `;
};

const counted = (count: number): string => count.toLocaleString("en-US");

const durationText = (seconds: number): string => {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
};
