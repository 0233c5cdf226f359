/**
 * What the program prints. One allow-list of fields, because redaction by path misses what nobody listed (measured with pino 10).
 * Never give it a header, a body, or an Authorization value.
 */
import pino from "pino";
import pretty from "pino-pretty";

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
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Lines for a person in a terminal; otherwise one JSON object per line. */
  readonly pretty: boolean;
}

/** Writes synchronously: with an asynchronous destination Bun loses the last lines at exit (measured). */
export const createLogger = (options: LoggerOptions): Logger => {
  const settings = { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const sink = options.pretty
    ? pino(settings, pretty({ sync: true, translateTime: "SYS:HH:MM:ss.l", singleLine: true }))
    : pino(settings);
  return {
    debug: (message, fields = {}) => sink.debug(fields, message),
    info: (message, fields = {}) => sink.info(fields, message),
    warn: (message, fields = {}) => sink.warn(fields, message),
    error: (message, fields = {}) => sink.error(fields, message),
  };
};
