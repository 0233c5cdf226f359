/**
 * What the program prints. One allow-list of fields, because redaction by path misses what nobody listed (measured with pino 10).
 * Never give it a header, a body, or an Authorization value.
 */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import pino from "pino";
import { prettyFactory } from "pino-pretty";
import { escaped } from "../runtime/printable.ts";

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
 * Writes synchronously: with an asynchronous destination Bun loses the last lines at exit (measured). Lines of requests are written together,
 * LINES_WAIT_MS_MAX after the first at the latest: a system call for each cost 3 µs (measured). Any other line goes out at once, after those before it.
 */
export const createLogger = ({ level, pretty: isPretty }: LoggerOptions): Logger => {
  const toPerson = prettyFactory({ translateTime: "SYS:HH:MM:ss.l", singleLine: true });
  const lines = createLineWriter(withoutWaiting(process.stdout.fd), {
    waitingMax: LINES_WAITING_BYTES_MAX,
    onDropped: (count) => sink.error({ count }, "lines were dropped here, as nobody read them"),
  });
  const sink = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
    },
    { write: (line) => lines.write(isPretty ? unsteering(toPerson(line)) : line) },
  );
  process.on("exit", () => lines.finish(LINES_END_MS_MAX));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (!lines.flush()) flushSoon();
  };
  const flushSoon = (): void => {
    timer ??= setTimeout(flush, LINES_WAIT_MS_MAX);
  };
  const write =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}): void => {
      sink[level](fields, message);
      flush();
    };
  return {
    isEnabled: (level) => sink.isLevelEnabled(level),
    request: (fields) => {
      sink.info(fields, "request");
      flushSoon();
    },
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
};

/** Names in a line come from outside. Pino has already escaped what is below U+0020; the colours are its own. */
const unsteering = (line: string): string => line.replaceAll(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);

const LINES_WAIT_MS_MAX = 100;
/** Some thousand lines wait for a reader that does not read; at the end of the process this long. */
const LINES_WAITING_BYTES_MAX = 1024 * 1024;
const LINES_END_MS_MAX = 1000;

const WRITE_CHARACTERS = 8 * 1024;
const FULL_PIPE_MS = 10;
const LINE_FEED = 0x0a;

/**
 * Writes whole lines, in order, to a file descriptor. What cannot be written is dropped: a program must not end or hang because nobody
 * reads its output or the disk is full. Pino's own destination retries forever and blocks the process (sonic-boom 4.2.1).
 */
export const createLineWriter = (
  fd: number,
  options: {
    /** What may wait for a reader that takes nothing. Newer lines are dropped until all of it is written. */
    readonly waitingMax: number;
    /** Called when lines can be written again. */
    readonly onDropped: (count: number) => void;
    readonly write?: (fd: number, bytes: Uint8Array) => number;
  },
) => {
  const { waitingMax, onDropped, write = writeSync } = options;
  let lines = "";
  let unwritten = Buffer.alloc(0);
  let dropped = 0;
  /** The last write ended inside a line. */
  let isTorn = false;
  const writeSome = (): boolean => {
    try {
      const count = write(fd, unwritten);
      isTorn = unwritten[count - 1] !== LINE_FEED;
      unwritten = unwritten.subarray(count);
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") return false;
      // The rest is lost. The next line does not begin inside the torn one.
      if (isTorn) lines = "\n";
      isTorn = false;
      unwritten = Buffer.alloc(0);
      return true;
    }
  };
  /** Writes as much as the output takes without waiting. False if something is left: call it again. */
  const flush = (): boolean => {
    unwritten = Buffer.concat([unwritten, Buffer.from(lines)]);
    lines = "";
    while (unwritten.length > 0) if (!writeSome()) return false;
    if (dropped === 0) return true;
    const count = dropped;
    dropped = 0;
    onDropped(count);
    return flush();
  };
  return {
    /** Kept until the next flush, or until there is enough for one write. */
    write: (line: string): void => {
      const waiting = unwritten.length + lines.length;
      if (dropped > 0 || (waiting > 0 && waiting + line.length > waitingMax)) dropped++;
      else lines += line;
      if (lines.length >= WRITE_CHARACTERS && unwritten.length === 0) flush();
    },
    flush,
    /** For the end of the process: waits for a slow reader, at most this long. */
    finish: (msMax: number): void => {
      const end = performance.now() + msMax;
      const pause = new Int32Array(new SharedArrayBuffer(4));
      while (!flush() && performance.now() < end) Atomics.wait(pause, 0, 0, FULL_PIPE_MS);
    },
  };
};

/**
 * The same output, opened so that a pipe whose reader has stopped, or a terminal after Ctrl-S, does not block the process (measured). A flag on standard
 * output itself would apply to every process that shares it. Sockets cannot be opened: Bun makes them non-blocking (measured on 1.4.5), Deno does not.
 */
const withoutWaiting = (fd: number): number => {
  try {
    if (!fstatSync(fd).isFIFO() && !isatty(fd)) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
};
