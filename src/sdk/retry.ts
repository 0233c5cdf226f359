/** When to try again. Pure: time and chance are handed in. */
import { RETRY_AFTER_MS_MAX, RETRY_BASE_MS } from "./limits.ts";

/**
 * Milliseconds to wait before the next attempt, after `failures` in a row (1 or more). Full jitter: anything from 0 to base × 2ⁿ, at most `capMs`,
 * because clients that wait alike come back together.
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
/** The name of a day, as each of the three forms of RFC 9110 §5.6.7 begins. Date.parse takes "-5" for a year. */
const DATE = /^[A-Z][a-z]{2}/;
/** The oldest form ends with the year: it names no zone, and is UTC as the others are. */
const YEAR_LAST = / \d{4}$/;
const dateMs = (text: string): number => Date.parse(YEAR_LAST.test(text) ? `${text} GMT` : text);

/** What `Retry-After` says (RFC 9110 §10.2.3: seconds, or a date), in milliseconds; undefined where it says nothing that can be read. */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  if (header === null) return undefined;
  const text = header.trim();
  if (!(DIGITS.test(text) || DATE.test(text))) return undefined;
  const waitMs = DIGITS.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MS_MAX);
};

/** The wait before the next attempt: never shorter than what the service asks for. */
export const nextAttemptMs = (parts: {
  readonly failures: number;
  readonly capMs: number;
  readonly askedMs: number | undefined;
  readonly random: () => number;
}): number => (parts.askedMs ?? 0) + backoffMs(parts);
