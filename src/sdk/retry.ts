/** Computes waits before retries. Pure: time and chance are passed in. */
import { RETRY_AFTER_MS_MAX, RETRY_BASE_MS } from "./limits.ts";

/**
 * Milliseconds to wait before the next attempt, after `failures` in a row (1 or more). Full jitter: a random value from 0 to base × 2ⁿ, at most
 * `capMs`, because clients with equal waits would retry at the same time.
 */
export const backoffMs = (parts: {
  readonly failures: number;
  readonly capMs: number;
  readonly random: () => number;
}): number => {
  const { failures, capMs, random } = parts;
  return Math.floor(random() * Math.min(capMs, RETRY_BASE_MS * 2 ** (failures - 1)));
};

const DIGITS = /^\d+$/;
/** The name of a day, with which each of the three date forms of RFC 9110 §5.6.7 begins. Date.parse would read "-5" as a year. */
const DATE = /^[A-Z][a-z]{2}/;
/** The oldest form ends with the year: it names no zone, and is UTC like the others. */
const YEAR_LAST = / \d{4}$/;
const dateMs = (text: string): number => Date.parse(YEAR_LAST.test(text) ? `${text} GMT` : text);

/** The value of `Retry-After` (RFC 9110 §10.2.3: seconds, or a date) in milliseconds; undefined if it cannot be read. */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined;
  const text = header.trim();
  if (!(DIGITS.test(text) || DATE.test(text))) return undefined;
  const waitMs = DIGITS.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MS_MAX);
};

/** The wait before the next attempt: never shorter than the service asked for. */
export const nextAttemptMs = (parts: {
  readonly failures: number;
  readonly capMs: number;
  readonly askedMs: number | undefined;
  readonly random: () => number;
}): number => (parts.askedMs ?? 0) + backoffMs(parts);
