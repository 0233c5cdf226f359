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

export interface ProgressOptions {
  readonly what: string;
  readonly unit?: string;
  readonly isQuiet?: boolean;
}

/** A terminal is redrawn a few times a second, and not at all for work that ends at once. */
const TERMINAL_MS = 250;
const BAR_COLUMNS = 20;

/** For a command with the options --json and --quiet. `end` keeps the last report; further output starts on a new line. */
export const progressFor = (
  input: Pick<Input, "isSet">,
  { err }: Pick<Context, "err">,
  { what, unit = "", isQuiet = false }: ProgressOptions,
  elapsedMs = () => performance.now(),
) => {
  // Programs that read standard error with --json expect only JSON there.
  const isSilent = isQuiet || input.isSet("--quiet") || (input.isSet("--json") && !err.isTerminal);
  const intervalMs = err.isTerminal ? TERMINAL_MS : PROGRESS_LINE_MS;
  let saidMs = elapsedMs();
  let shown = "";
  let last: Report | undefined;
  /** What was there at the first report, such as what an earlier run sent, says nothing about the rate and the time that is left. */
  let first = { count: 0, share: 0, ms: 0 };
  const say = (report: Report): void => {
    const { count, of, bytes, bytesOf } = report;
    const share = shareOf(report);
    const seconds = Math.max((elapsedMs() - first.ms) / 1000, 0.001);
    const text = `${what} ${counted(count)}${of === undefined ? "" : ` of ${counted(of)}`} ${unit}`.trimEnd();
    const rate = counted(Math.round((count - first.count) / seconds));
    const size = bytes === undefined ? "" : `, ${sizeText(bytes, bytesOf)}`;
    const left = share === undefined ? Number.NaN : ((1 - share) * seconds) / (share - first.share);
    const line = `${text}, ${rate}/s${size}${Number.isFinite(left) ? `, ${durationText(Math.ceil(left))} left` : ""}`;
    if (line === shown) return;
    shown = line;
    const full = Math.round((share ?? 0) * BAR_COLUMNS);
    const bar = share === undefined ? "" : `${"█".repeat(full).padEnd(BAR_COLUMNS, "░")} `;
    // One column less: some terminals wrap after the last column.
    const room = err.columns - 1;
    void err.write(err.isTerminal ? `\r${`${bar}${line}`.slice(0, room).padEnd(room)}` : `${line}\n`);
  };
  return {
    report: (report: Report): void => {
      if (!last) first = { count: report.count, share: shareOf(report) ?? 0, ms: elapsedMs() };
      last = report;
      if (isSilent || elapsedMs() - saidMs < intervalMs) return;
      saidMs = elapsedMs();
      say(report);
    },
    end: (): void => {
      // Work that ended before the first report needs no last one.
      if (shown === "" || !last) return;
      say(last);
      last = undefined;
      if (err.isTerminal) void err.write("\n");
    },
  };
};

const shareOf = ({ count, of, bytes = 0, bytesOf }: Report): number | undefined => {
  const [done, all] = bytesOf === undefined ? [count, of] : [bytes, bytesOf];
  return all === undefined ? undefined : Math.min(1, all === 0 ? 1 : done / all);
};

const counted = (count: number): string => count.toLocaleString("en-US");

const durationText = (seconds: number): string => {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
};
