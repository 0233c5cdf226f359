/** When something is sent again. */
import { CLOCK_DRIFT_MS, RETRY_AFTER_MS_MAX, RETRY_BASE_MS } from "./limits.ts";

/**
 * Milliseconds to wait before the next attempt, after `failures` in a row (1 or more): what the service asked for, and a random part of base × 2ⁿ, at
 * most `capMs`, because clients with equal waits would retry at the same time.
 */
export const nextAttemptMs = (parts: {
  readonly failures: number;
  readonly capMs: number;
  readonly askedMs: number | undefined;
  readonly random: () => number;
}): number => {
  const { failures, capMs, askedMs = 0, random } = parts;
  return askedMs + Math.floor(random() * Math.min(capMs, RETRY_BASE_MS * 2 ** (failures - 1)));
};

const DIGITS = /^\d+$/;
/** The name of a day, with which each of the three date forms of RFC 9110 §5.6.7 begins. Date.parse would read "-5" as a year. */
const DATE = /^[A-Z][a-z]{2}/;
/** The oldest form ends with the year: it names no zone, and is UTC like the others. */
const YEAR_LAST = / \d{4}$/;

/** The value of `Retry-After` (RFC 9110 §10.2.3: seconds, or a date) in milliseconds; undefined if it cannot be read. */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  const text = header?.trim() ?? "";
  if (!(DIGITS.test(text) || DATE.test(text))) return undefined;
  const date = YEAR_LAST.test(text) ? `${text} GMT` : text;
  const waitMs = DIGITS.test(text) ? Number(text) * 1000 : Date.parse(date) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MS_MAX);
};

/**
 * Whether `wallMs` (`Date.now()` then) may be longer ago than `ms`. The wall clock may have been set since, and the steady clock stands still while
 * the machine sleeps. If the wall clock was set back, neither can rule it out.
 */
export const mayBeOlderThan = (wallMs: number, ms: number): boolean => {
  const wallAgeMs = Date.now() - wallMs;
  const steadyAgeMs = performance.timeOrigin + performance.now() - wallMs;
  return wallAgeMs < 0 || Math.max(wallAgeMs, steadyAgeMs) > ms || wallAgeMs < steadyAgeMs - CLOCK_DRIFT_MS;
};
