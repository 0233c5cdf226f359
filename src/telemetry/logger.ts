/**
 * What the program prints. One allow-list of fields, because redaction by path misses what nobody listed (measured with pino 10).
 * Never give it a header, a body, or an Authorization value.
 */
import pino from "pino";
import { prettyFactory } from "pino-pretty";
import { escaped } from "../runtime/printable.ts";
import { createLineWriter, type LineWriter, withoutWaiting } from "./line-writer.ts";

/** Everything a line may carry. A new field is one row here. */
export interface LogFields {
  readonly request_id?: string;
  readonly tenant?: string;
  readonly key_id?: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly code?: string;
  readonly duration_ms?: number;
  readonly client?: string;
  readonly sequence?: number;
  readonly projection?: string;
  readonly stream?: string;
  readonly pid?: number;
  readonly count?: number;
  readonly detail?: string;
}

export interface Logger {
  /** Whether lines of this level are written, so that a caller need not build a line for nothing. */
  isEnabled(level: "debug" | "info"): boolean;
  /** One line per request, at level info. Only these lines may be written a moment later. */
  request(fields: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

interface LoggerOptions {
  readonly level: LogLevel;
  /** Lines for a person in a terminal; otherwise one JSON object per line. */
  readonly pretty: boolean;
}

/**
 * Writes synchronously: with an asynchronous destination Bun loses the last lines at exit (measured).
 *
 * Lines of requests are written together, LINES_WAIT_MS_MAX after the first at the latest: a system call for each cost 3 µs per request
 * (measured). Any other line goes out at once, after those before it, and so does everything when the process ends.
 */
export const createLogger = ({ level, pretty: isPretty }: LoggerOptions): Logger => {
  const toPerson = prettyFactory({ translateTime: "SYS:HH:MM:ss.l", singleLine: true });
  const shown = isPretty ? (line: string) => unsteering(toPerson(line)) : (line: string) => line;
  const sinkTo = (write: (line: string) => void) =>
    pino(
      {
        level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (name) => ({ level: name }) },
      },
      { write: (line) => write(shown(line)) },
    );
  // Rendered like every other line, but not queued: the writer places it before the lines that follow the dropped ones.
  let noticed = "";
  const notice = sinkTo((line) => {
    noticed = line;
  });
  const lines = createLineWriter(withoutWaiting(process.stdout.fd), {
    bytesMax: LINES_BYTES_MAX,
    waitingBytesMax: LINES_WAITING_BYTES_MAX,
    inPlaceOf: (count) => {
      notice.error({ count }, "lines were dropped here, as nobody read them");
      return noticed;
    },
  });
  return loggerOn(sinkTo(lines.write), createFlush(lines));
};

/** Names in a line come from outside. Pino has already escaped what is below U+0020; the colours are its own. */
const unsteering = (line: string): string => line.replaceAll(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);

const LINES_BYTES_MAX = 8 * 1024;
const LINES_WAIT_MS_MAX = 100;
/** Some thousand lines wait for a reader that does not read; at the end of the process this long. */
const LINES_WAITING_BYTES_MAX = 1024 * 1024;
const LINES_END_MS_MAX = 1000;

interface Flush {
  now(): void;
  soon(): void;
}

const createFlush = (lines: LineWriter): Flush => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (!lines.flush()) soon();
  };
  const soon = (): void => {
    timer ??= setTimeout(now, LINES_WAIT_MS_MAX);
  };
  process.on("exit", () => lines.finish(LINES_END_MS_MAX));
  return { now, soon };
};

const loggerOn = (sink: pino.Logger, flush: Flush): Logger => {
  const write =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}): void => {
      sink[level](fields, message);
      flush.now();
    };
  return {
    isEnabled: (level) => sink.isLevelEnabled(level),
    request: (fields) => {
      sink.info(fields, "request");
      flush.soon();
    },
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
};
